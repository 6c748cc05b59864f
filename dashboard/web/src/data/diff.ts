// SPDX-License-Identifier: GPL-3.0-or-later
// What two texts differ in, line by line: the shortest list of changes (Myers
// 1986). Of texts with very many differences the middle is one change.

export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
  readonly left: number; // its number from 1; 0: it is not there
  readonly right: number;
}

const EDITS_MAX = 1000;

type Step = readonly ["-" | "+" | " ", number, number]; // indices into both

// The furthest place on each diagonal after so many edits; null: more than EDITS_MAX.
function trace(a: readonly string[], b: readonly string[]): Int32Array[] | null {
  const rounds: Int32Array[] = [];
  let before = new Int32Array([0, 0, 0]);
  for (let edits = 0; edits <= Math.min(a.length + b.length, EDITS_MAX); edits++) {
    // Of the diagonals from -edits - 1 to edits + 1.
    const now = new Int32Array(2 * edits + 3);
    const at = (k: number) => (edits === 0 ? 0 : before[k + edits]);
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
      let x = edits === 0 ? 0 : isDown ? at(k + 1) : at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      now[k + edits + 1] = x;
      if (x >= a.length && x - k >= b.length) return [...rounds, now];
    }
    rounds.push(now);
    before = now;
  }
  return null;
}

// From the end to the beginning.
function walk(rounds: readonly Int32Array[], a: readonly string[], b: readonly string[]): Step[] {
  const steps: Step[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = rounds.length - 1; edits > 0; edits--) {
    const before = rounds[edits - 1];
    const at = (k: number) => before[k + edits];
    const k = x - y;
    const isDown = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const [fromX, fromY] = isDown ? [at(k + 1), at(k + 1) - k - 1] : [at(k - 1), at(k - 1) - k + 1];
    while (x > (isDown ? fromX : fromX + 1) && y > (isDown ? fromY + 1 : fromY)) {
      steps.push([" ", --x, --y]);
    }
    steps.push(isDown ? ["+", x, --y] : ["-", --x, y]);
  }
  while (x > 0) steps.push([" ", --x, --y]);
  return steps.reverse();
}

export function diffLines(a: readonly string[], b: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(a.length, b.length) - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  const [left, right] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const rounds = trace(left, right);
  const steps: Step[] = rounds === null
    ? [
        ...left.map((_, i): Step => ["-", i, 0]),
        ...right.map((_, i): Step => ["+", left.length, i]),
      ]
    : walk(rounds, left, right);
  const same = (x: number, y: number): DiffLine =>
    ({ sign: " ", text: a[x], left: x + 1, right: y + 1 });
  return [
    ...a.slice(0, head).map((_, i) => same(i, i)),
    ...steps.map(([sign, i, j]): DiffLine => {
      const [x, y] = [head + i, head + j];
      if (sign === "-") return { sign, text: a[x], left: x + 1, right: 0 };
      if (sign === "+") return { sign, text: b[y], left: 0, right: y + 1 };
      return same(x, y);
    }),
    ...a.slice(a.length - tail).map((_, i) => same(a.length - tail + i, b.length - tail + i)),
  ];
}
