// SPDX-License-Identifier: GPL-3.0-or-later
// Dark or light: what the reader chose, else what their system says.
import { computed, effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

export type Choice = "auto" | "light" | "dark";

const KEY = "smtune-theme";
const choices: readonly Choice[] = ["auto", "light", "dark"];

function stored(): Choice {
  try {
    return choices.find((choice) => choice === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto"; // a page from a file may have no storage
  }
}

const isSystemDark = signal(false);

export const themeChoice = signal<Choice>("auto");

// What is shown; a canvas that reads colours reads this, to be drawn again.
export const theme: ReadonlySignal<"light" | "dark"> = computed(() => {
  if (themeChoice.value !== "auto") return themeChoice.value;
  return isSystemDark.value ? "dark" : "light";
});

export function nextTheme(): void {
  themeChoice.value = choices[(choices.indexOf(themeChoice.peek()) + 1) % choices.length];
  try {
    localStorage.setItem(KEY, themeChoice.peek());
  } catch {
    // it holds until the page is left
  }
}

export function startTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  isSystemDark.value = system.matches;
  system.addEventListener("change", () => (isSystemDark.value = system.matches));
  themeChoice.value = stored();
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

// The value of a colour of css/tokens.css, for a canvas; follows the theme.
export function colour(name: string): string {
  void theme.value;
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
