// SPDX-License-Identifier: GPL-3.0-or-later
// Characters that turn the direction of the text around them, with which a name
// is read as another one, are shown by their number.

const TURN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const TURNS = new RegExp(TURN, "g");

export const codeOf = (letter: string) =>
  `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

export const hasTurn = (text: string) => TURN.test(text);

export const withoutTurns = (text: string) =>
  hasTurn(text) ? text.replace(TURNS, codeOf) : text;
