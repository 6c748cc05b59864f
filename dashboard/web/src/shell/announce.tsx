// SPDX-License-Identifier: GPL-3.0-or-later
// Says what changed to those who do not see it, at most every few seconds.
import { signal } from "@preact/signals";

const PAUSE_MS = 4000;

const said = signal("");
let waiting = "";
let timer = 0;

function sayWaiting(): void {
  said.value = waiting;
  waiting = "";
  timer = setTimeout(() => {
    timer = 0;
    if (waiting !== "") sayWaiting();
  }, PAUSE_MS) as unknown as number;
}

// The last of several wins.
export function announce(text: string): void {
  waiting = text;
  if (timer === 0) sayWaiting();
}

export function Announcer() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {said.value}
    </div>
  );
}
