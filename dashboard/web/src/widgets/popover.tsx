// SPDX-License-Identifier: GPL-3.0-or-later
// What opens under a button and closes by Escape or a click beside it. The
// keyboard goes into it, and back to the button afterwards.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "../css/popover.css";

const GAP_PX = 4;
const EDGE_PX = 8;

function place(element: HTMLElement, anchor: HTMLElement): void {
  const from = anchor.getBoundingClientRect();
  const { width, height } = element.getBoundingClientRect();
  const below = from.bottom + GAP_PX;
  const fits = below + height <= innerHeight - EDGE_PX;
  const top = fits ? below : Math.max(EDGE_PX, innerHeight - EDGE_PX - height);
  const left = Math.min(from.left, innerWidth - EDGE_PX - width);
  element.style.top = `${top}px`;
  element.style.left = `${Math.max(EDGE_PX, left)}px`;
}

export function Popover({
  anchor,
  label,
  onClose,
  children,
}: {
  anchor: HTMLElement;
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;

  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const before = document.activeElement as HTMLElement | null;
    element.showPopover();
    place(element, anchor);
    const first = element.querySelector<HTMLElement>("[autofocus], input, button, select");
    (first ?? element).focus();
    const onToggle = (event: Event) => {
      if ((event as ToggleEvent).newState === "closed") close.current();
    };
    element.addEventListener("toggle", onToggle);
    return () => {
      element.removeEventListener("toggle", onToggle);
      if (element.contains(document.activeElement) || document.activeElement === document.body)
        before?.focus();
    };
  }, [anchor]);

  return (
    <div
      ref={ref}
      class="popover"
      popover="auto"
      role="dialog"
      tabIndex={-1}
      aria-label={label}
      onKeyDown={(event) => event.stopPropagation()}
    >
      {children}
    </div>
  );
}
