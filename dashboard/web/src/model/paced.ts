// SPDX-License-Identifier: GPL-3.0-or-later
// News that come faster than they can be drawn: of those that wait the last one
// is shown, and after each the page is left alone for half the time that it took
// to draw.
export function makePaced<T>(show: (value: T) => void): (value: T) => void {
  let waiting: { value: T } | null = null;
  let isBusy = false;
  const step = () => {
    isBusy = waiting !== null;
    if (waiting === null) return;
    const begun = performance.now();
    const { value } = waiting;
    waiting = null;
    show(value);
    // Charts are drawn in the next frame, and in a tab that nobody sees not at all.
    requestAnimationFrame(() =>
      setTimeout(() => setTimeout(step, (performance.now() - begun) / 2)),
    );
  };
  return (value) => {
    waiting = { value };
    if (!isBusy) step();
  };
}
