// SPDX-License-Identifier: GPL-3.0-or-later
// A canvas that is drawn at most once a frame, as sharp as the screen, when what
// draws it, its size or the colours change.
import { useEffect, useRef } from "preact/hooks";
import type { Painter } from "./svg";
import { useTheme } from "./theme";

export interface DrawingProps {
  label?: string; // for those who do not see it; without one it is nothing to them
  width: number; // CSS pixels
  height: number;
  // Draws on an empty ground. Another function: it is drawn anew.
  paint(painter: Painter, width: number, height: number): void;
}

function draw(canvas: HTMLCanvasElement, { width, height, paint }: DrawingProps): void {
  const ratio = devicePixelRatio || 1;
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  }
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, columns, rows);
  context.scale(ratio, ratio);
  context.save();
  paint(context, width, height);
  context.restore();
}

export function Drawing(props: DrawingProps) {
  const { label, width, height, paint } = props;
  const ref = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (ref.current !== null && width > 0) draw(ref.current, props);
    });
    return () => cancelAnimationFrame(frame);
  }, [width, height, paint, theme]);
  const size = { width: `${width}px`, height: `${height}px` };
  if (label === undefined)
    return <canvas ref={ref} class="chart-canvas" aria-hidden="true" style={size} />;
  return <canvas ref={ref} class="chart-canvas" role="img" aria-label={label} style={size} />;
}
