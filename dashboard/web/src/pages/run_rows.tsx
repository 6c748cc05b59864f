// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the list of runs, in parts: those far from what is seen are as
// high as they were, and empty.
import { useEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import type { Placed } from "./arrange";

export const PART_ROWS = 50;
const ROW_PX = 45; // until the part has been seen
const NEAR = "1000px 0px";

interface PartProps {
  readonly placed: readonly Placed[];
  readonly first: number; // of all rows
  readonly row: (placed: Placed, place: number) => VNode;
}

function Part({ placed, first, row }: PartProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = useRef(ROW_PX);
  const count = useRef(0);
  count.current = placed.length;
  const [isNear, setIsNear] = useState(first === 0);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        const { boundingClientRect, isIntersecting } = entries[entries.length - 1];
        if (!isIntersecting) rowPx.current = boundingClientRect.height / count.current;
        setIsNear(isIntersecting);
      },
      { rootMargin: NEAR },
    );
    if (body.current !== null) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  return (
    <tbody ref={body} data-part={first / PART_ROWS}>
      {isNear
        ? placed.map((one, i) => row(one, first + i))
        : <tr class="runs-far" style={{ height: `${rowPx.current * placed.length}px` }} />}
    </tbody>
  );
}

export function RunRows({ placed, row }: Pick<PartProps, "placed" | "row">) {
  const parts = [];
  for (let first = 0; first < placed.length; first += PART_ROWS)
    parts.push(
      <Part key={first} placed={placed.slice(first, first + PART_ROWS)} first={first} row={row} />,
    );
  return <>{parts}</>;
}
