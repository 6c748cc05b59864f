// SPDX-License-Identifier: GPL-3.0-or-later
// What signs and colours of a chart mean.
export interface LegendItem {
  readonly sign: "dot" | "line" | "dash" | "cross" | "bar" | "area";
  readonly color: string;
  readonly text: string;
}

const paths: Record<LegendItem["sign"], string> = {
  dot: "M8 8h0",
  line: "M1 8h14",
  dash: "M1 8h4M11 8h4",
  cross: "M4 4l8 8M4 12l8 -8",
  bar: "M8 3v10",
  area: "M1 8h14",
};
const widths: Record<LegendItem["sign"], number> = {
  dot: 7,
  line: 2,
  dash: 2,
  cross: 1.75,
  bar: 1.75,
  area: 9,
};

export function Legend({ items }: { items: readonly LegendItem[] }) {
  return (
    <ul class="plain chart-legend">
      {items.map(({ sign, color, text }) => (
        <li key={text}>
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <path
              d={paths[sign]}
              stroke={color}
              stroke-width={widths[sign]}
              fill="none"
              stroke-linecap={sign === "dot" ? "round" : "butt"}
            />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
