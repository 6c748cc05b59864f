// SPDX-License-Identifier: GPL-3.0-or-later
// Several names in one text, with commas between them; those in a name, and
// what stands for them, as a URL has them.

export const listText = (names: readonly string[]) =>
  names.map((name) => name.replace(/[%,]/g, encodeURIComponent)).join(",");

export const listOf = (text: string): string[] =>
  text
    .split(",")
    .filter((name) => name !== "")
    .map((name) => name.replace(/%25/g, "\0").replace(/%2C/g, ",").replace(/\0/g, "%"));
