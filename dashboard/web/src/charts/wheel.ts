// SPDX-License-Identifier: GPL-3.0-or-later
// The wheel over an element, in place of scrolling the page.
import { useEffect, useRef } from "preact/hooks";

export function useWheel(
  ref: { current: HTMLElement | null },
  onWheel: (event: WheelEvent) => void,
): void {
  const current = useRef(onWheel);
  current.current = onWheel;
  useEffect(() => {
    const element = ref.current;
    const handle = (event: WheelEvent) => {
      event.preventDefault();
      current.current(event);
    };
    // Only one that is not passive can keep the page where it is.
    element?.addEventListener("wheel", handle, { passive: false });
    return () => element?.removeEventListener("wheel", handle);
  }, []);
}

const ZOOM = 0.0015; // of a pixel that the wheel turns

// How much larger what is seen becomes.
export const wheelZoom = ({ deltaY }: WheelEvent) => Math.exp(-deltaY * ZOOM);
