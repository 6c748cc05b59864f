// SPDX-License-Identifier: GPL-3.0-or-later
// Colours in a text of a terminal: what follows is in another ink from a letter
// on that stands for the ink, of those that Unicode leaves to programs and that
// no text has.

const FIRST = 0xfdd0;
const INKS = 16;
const LETTERS = /[\ufdd0-\ufddf]/g;
const BOLD = 8; // added to a colour: 0 the text's own, red 1, green 2, ... cyan 6
const GREY = 7;

export const letterOf = (ink: number) => String.fromCharCode(FIRST + ink);

// The ink that begins at a place of a text; -1: a letter of the text is there.
export function inkAt(text: string, at: number): number {
  const ink = text.charCodeAt(at) - FIRST;
  return ink >= 0 && ink < INKS ? ink : -1;
}

export const plainOf = (text: string) => text.replace(LETTERS, "");

// In which ink a place of a text is.
export function inkBefore(text: string, at: number): number {
  for (let i = at - 1; i >= 0; i--) {
    const ink = inkAt(text, i);
    if (ink >= 0) return ink;
  }
  return 0;
}

// Where the text has the letter that is the n-th of plainOf.
export function placeOf(text: string, n: number): number {
  let left = n;
  for (let i = 0; i < text.length; i++) if (inkAt(text, i) < 0 && left-- === 0) return i;
  return text.length;
}

// ---- as programs order them: the codes of ESC [ ... m ----

// The nearest of the seven, by which parts of it are bright.
function nearest(red: number, green: number, blue: number): number {
  const [low, high] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  if (high - low < 40) return high < 160 ? GREY : 0;
  const middle = (low + high) / 2;
  return Number(red > middle) + 2 * Number(green > middle) + 4 * Number(blue > middle);
}

// Of the palette of 256: 16 with names, a cube of 216, then greys.
function ofPalette(index: number): number {
  if (index === 8) return GREY;
  if (index < 16) return (index % 8) % GREY;
  if (index > 231) return index < 244 ? GREY : 0;
  const at = index - 16;
  return nearest(Math.floor(at / 36) * 51, (Math.floor(at / 6) % 6) * 51, (at % 6) * 51);
}

// The ink after such codes ("1;31", "38;5;208"). Black and white are the text's own.
export function inkOf(codes: string, before: number): number {
  const numbers = codes.split(/[;:]/).map(Number);
  let [color, bold] = [before % BOLD, before & BOLD];
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i];
    if (code === 0) color = bold = 0;
    else if (code === 1) bold = BOLD;
    else if (code === 22) bold = 0;
    else if (code === 2 || code === 90) color = GREY;
    else if (code === 39) color = 0;
    else if ((code >= 30 && code <= 37) || (code > 90 && code <= 97)) color = (code % 10) % GREY;
    else if (code === 38 || code === 48) {
      const isOfPalette = numbers[i + 1] === 5;
      const [a, b = 0, c = 0] = numbers.slice(i + 2);
      if (code === 38) color = isOfPalette ? ofPalette(a) : nearest(a, b, c);
      i += isOfPalette ? 2 : 4;
    }
  }
  return color + bold;
}
