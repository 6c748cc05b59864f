// SPDX-License-Identifier: GPL-3.0-or-later
// Two texts against each other, or one alone: its lines with their numbers.
import { useMemo, useState } from "preact/hooks";
import { diffLines } from "../data/diff";
import type { DiffLine } from "../data/diff";
import { formatMany } from "../shell/format";

const AROUND = 3; // equal lines that stay around a change
const LINES_MAX = 5000; // that are shown at once

type Piece = readonly DiffLine[] | number; // how many equal lines are hidden

// Equal lines far from any change are folded.
function piecesOf(lines: readonly DiffLine[]): Piece[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ sign }, i) => {
    if (sign !== " ") isNear.fill(1, Math.max(0, i - AROUND), i + AROUND + 1);
  });
  const pieces: Piece[] = [];
  for (let from = 0; from < lines.length; ) {
    let to = from;
    while (to < lines.length && isNear[to] === isNear[from]) to++;
    pieces.push(isNear[from] ? lines.slice(from, to) : to - from);
    from = to;
  }
  return pieces;
}

const numberOf = (number: number) => (number === 0 ? "" : number);

function Row({ line, isDiff }: { line: DiffLine; isDiff: boolean }) {
  const kind = line.sign === "+" ? "diff-new" : line.sign === "-" ? "diff-old" : undefined;
  return (
    <tr class={kind}>
      <td class="faint num">{numberOf(line.left)}</td>
      {isDiff && <td class="faint num">{numberOf(line.right)}</td>}
      <td class="diff-text">{isDiff ? `${line.sign} ${line.text}` : line.text}</td>
    </tr>
  );
}

export function Difference({ label, before, after }: {
  label: string;
  before: readonly string[];
  after?: readonly string[]; // none: only the first is shown
}) {
  const [isWhole, setWhole] = useState(false);
  const isDiff = after !== undefined;
  const lines = useMemo(
    () => diffLines(before, after ?? before),
    [before.join("\n"), after?.join("\n")],
  );
  const pieces: readonly Piece[] = isDiff && !isWhole ? piecesOf(lines) : [lines];
  const isSame = lines.every(({ sign }) => sign === " ");
  let left = LINES_MAX;
  if (isDiff && isSame) return <p class="muted">The texts are equal ({formatMany(lines.length, "line")}).</p>;
  return (
    <>
      <div class="table-scroll diff" role="region" tabIndex={0} aria-label={label}>
        <table>
          <tbody>
            {pieces.map((piece, place) => {
              if (typeof piece === "number")
                return (
                  <tr key={place}>
                    <td colSpan={3}>
                      <button type="button" class="btn btn-quiet btn-small" onClick={() => setWhole(true)}>
                        … {formatMany(piece, "equal line")}
                      </button>
                    </td>
                  </tr>
                );
              const shown = piece.slice(0, Math.max(0, left));
              left -= piece.length;
              return shown.map((line) => (
                <Row key={`${line.left} ${line.right}`} line={line} isDiff={isDiff} />
              ));
            })}
          </tbody>
        </table>
      </div>
      {left < 0 && <p class="muted small">{formatMany(-left, "line")} more are not shown.</p>}
    </>
  );
}
