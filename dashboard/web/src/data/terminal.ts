// SPDX-License-Identifier: GPL-3.0-or-later
// What a program wrote, as a terminal shows it: a line is what was last written
// in each of its places, in its colour. Other orders to a terminal are left out.
import { inkAt, inkOf, letterOf, plainOf } from "./ink";
import { codeOf } from "./turns";

// A line that may go on: `shown` is what it says now, and `raw` what, with more
// behind it, will say what that makes it say.
export interface Line {
  readonly shown: string;
  readonly raw: string;
}

// Orders: ESC [ ... letter, ESC ] ... BEL or ESC \, ESC with one letter; and inks
// that orders became before.
const ORDER =
  /[\ufdd0-\ufddf]|\u001b(?:\[([0-?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-Z\\^-~])/g;
const ERASE_LINE = "\u001b[K"; // from where it stands
const SPECIAL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

// The order to erase is kept, which progress bars use, and those for colours
// become inks.
function withoutOrders(text: string): string {
  let ink = 0;
  return text.replace(ORDER, (order: string, codes = "", letter = "") => {
    if (letter === "K") return /^[12]/.test(codes) ? `\r${ERASE_LINE}` : ERASE_LINE;
    const before = inkAt(order, 0);
    if (before < 0 && letter !== "m") return "";
    ink = before < 0 ? inkOf(codes, ink) : before;
    return letterOf(ink);
  });
}

// A sign for a control character of ASCII, and the number of another.
const visible = (letter: string) => {
  const code = letter.charCodeAt(0);
  return code > 0x7f ? codeOf(letter) : String.fromCharCode(code === 0x7f ? 0x2421 : 0x2400 + code);
};

interface Places {
  readonly letters: string[];
  readonly inks: number[];
}

// One stretch between two returns, written over what is there.
function overwrite({ letters, inks }: Places, stretch: string): Places {
  let [at, ink] = [0, 0];
  for (let i = 0; i < stretch.length; i++) {
    const code = stretch.charCodeAt(i);
    const next = inkAt(stretch, i);
    if (next >= 0) ink = next;
    else if (stretch.startsWith(ERASE_LINE, i)) {
      letters.length = Math.min(letters.length, at);
      i += ERASE_LINE.length - 1;
    } else if (code === 8) at = Math.max(at - 1, 0);
    else {
      letters[at] = code !== 9 && SPECIAL.test(stretch[i]) ? visible(stretch[i]) : stretch[i];
      inks[at++] = ink;
    }
  }
  return { letters, inks };
}

const textOf = ({ letters, inks }: Places) =>
  letters
    .map((letter, i) => (inks[i] === (inks[i - 1] ?? 0) ? letter : letterOf(inks[i]) + letter))
    .join("");

// A line of a log (without its end) as it is seen.
export function collapse(text: string): Line {
  if (!SPECIAL.test(text)) return { shown: text, raw: text };
  const clean = withoutOrders(text.replace(/\r+$/, "\r"));
  const stretches = clean.split("\r");
  // A stretch is not seen under a later one that is as long, or that erases:
  // of a million stretches, which are gone through from the last, few are.
  const seen: string[] = [];
  let longest = -1;
  for (let at = stretches.length - 1; at >= 0; at--) {
    const stretch = stretches[at];
    const { length } = plainOf(stretch);
    if (length > longest) seen.push(stretch);
    if (stretch.includes(ERASE_LINE)) break;
    if (!SPECIAL.test(stretch)) longest = Math.max(longest, length);
  }
  const shown = textOf(seen.reduceRight(overwrite, { letters: [], inks: [] }));
  const last = stretches[stretches.length - 1];
  return { shown, raw: stretches.length > 1 ? `${shown}\r${last}` : last };
}

export interface Lines {
  readonly ended: readonly string[]; // as they are seen
  readonly open: Line; // the last one, which has no end yet
}

// Takes in more of a text, behind a line that was open.
export function linesOf(open: string, text: string): Lines {
  const pieces = (open + text).split("\n");
  const last = pieces.pop() ?? "";
  return {
    ended: pieces.map((piece) => collapse(piece.endsWith("\r") ? piece.slice(0, -1) : piece).shown),
    open: collapse(last),
  };
}

// How wide it is in a font whose letters all are, about.
const isWide = (code: number) =>
  code >= 0x1100 &&
  (code <= 0x115f ||
    (code >= 0x2e80 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    code >= 0x1f300);

// Where each of its pieces begins that are at most so many letters wide.
export function breaksOf(text: string, columns: number): number[] {
  const breaks = [0];
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number;
    const isInk = inkAt(text, i) >= 0;
    const step = isInk ? 0 : code === 9 ? 8 - (width % 8) : isWide(code) ? 2 : 1;
    if (width + step > columns && width > 0) {
      breaks.push(i);
      width = 0;
    }
    width += step;
    if (code > 0xffff) i++;
  }
  return breaks;
}
