// SPDX-License-Identifier: GPL-3.0-or-later
// Scrolling over content that is taller than a browser's elements can be
// (33 million px in Chromium, fewer elsewhere). What is scrolled is at most
// TALLEST_PX: small steps move the content as far as the finger says, long ones
// (the bar is dragged) as far as their part of the whole.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const TALLEST_PX = 8_000_000;
const SETTLE_MS = 150;

interface Where {
  topPx: number; // in the content
  physicalTopPx: number; // what the element says
  leftPx: number;
  widthPx: number;
  heightPx: number; // of what is seen of the content
}

export interface TallScroll extends Readonly<Where> {
  readonly physicalPx: number; // the height to give the scrolled element
  readonly shiftPx: number; // to add to a place in the content, to draw there
  showRow(topPx: number, heightPx: number): void;
  goTo(topPx: number): void; // as far as it goes
  // Where it can be scrolled to at most, and at least.
  showColumn(mostPx: number, rightPx: number): void;
}

interface ElementRef {
  readonly current: HTMLElement | null;
}

// headPx of the element's height are taken by what stays at its top.
export function useTallScroll(ref: ElementRef, contentPx: number, headPx: number): TallScroll {
  const [where, setWhere] = useState<Where>({
    topPx: 0,
    physicalTopPx: 0,
    leftPx: 0,
    widthPx: 0,
    heightPx: 0,
  });
  const physicalPx = Math.min(contentPx, TALLEST_PX);
  const highestTopPx = Math.max(contentPx - where.heightPx, 0);
  const ratio = highestTopPx / Math.max(physicalPx - where.heightPx, 1);
  const isExact = contentPx <= TALLEST_PX;
  const now = useRef({ where, highestTopPx, ratio, isExact });
  now.current = { where, highestTopPx, ratio, isExact };

  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    let timer = 0;
    const set = (changes: Partial<Where>) => {
      now.current.where = { ...now.current.where, ...changes };
      setWhere(now.current.where);
    };
    const settle = () => {
      const {
        where: { topPx },
        ratio: times,
        isExact: isSettled,
      } = now.current;
      if (isSettled) return;
      element.scrollTop = topPx / times;
      set({ physicalTopPx: element.scrollTop });
    };
    const onScroll = () => {
      const { where: old, highestTopPx: highest, ratio: times, isExact: isSame } = now.current;
      const step = element.scrollTop - old.physicalTopPx;
      const isFar = Math.abs(step) > 2 * element.clientHeight;
      const wanted = isSame
        ? element.scrollTop
        : isFar
          ? element.scrollTop * times
          : old.topPx + step;
      set({
        topPx: Math.max(0, Math.min(highest, wanted)),
        physicalTopPx: element.scrollTop,
        leftPx: element.scrollLeft,
      });
      clearTimeout(timer);
      timer = setTimeout(settle, SETTLE_MS) as unknown as number;
    };
    const onSize = () =>
      set({ widthPx: element.clientWidth, heightPx: Math.max(element.clientHeight - headPx, 0) });
    const observer = new ResizeObserver(onSize);
    observer.observe(element);
    onSize();
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, [ref, headPx]);

  const goTo = (wantedPx: number) => {
    const element = ref.current;
    if (element === null) return;
    const { highestTopPx: highest, ratio: times, isExact: isSame } = now.current;
    const next = Math.max(0, Math.min(highest, wantedPx));
    element.scrollTop = isSame ? next : next / times;
    now.current.where = { ...now.current.where, topPx: next, physicalTopPx: element.scrollTop };
    setWhere(now.current.where);
  };

  const topPx = Math.min(where.topPx, highestTopPx);
  return {
    ...where,
    topPx,
    physicalPx,
    shiftPx: isExact ? 0 : where.physicalTopPx - topPx,
    showRow(rowTopPx, rowHeightPx) {
      const { topPx: current, heightPx } = now.current.where;
      const wanted = Math.max(Math.min(current, rowTopPx), rowTopPx + rowHeightPx - heightPx);
      if (wanted !== current) goTo(wanted);
    },
    goTo,
    showColumn(mostPx, rightPx) {
      const element = ref.current;
      if (element === null) return;
      const wanted = Math.max(Math.min(element.scrollLeft, mostPx), rightPx - element.clientWidth);
      if (wanted !== element.scrollLeft) element.scrollLeft = wanted;
    },
  };
}
