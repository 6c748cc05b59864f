// SPDX-License-Identifier: GPL-3.0-or-later
// Colours for good and bad, perceptually even: straight steps of lightness in
// Oklab (B. Ottosson, 2020) over several hues, so that more can be told apart than
// on the theme's ramp. The best stands out most from the page, dark or light.
import { bytesOf } from "./theme";
import type { Theme } from "./theme";

const SHADES = 256;
const DARK_SUM = 384; // of red, green and blue

type Rgb = [number, number, number];
// Lightness, chroma, hue in degrees, from the worst to the best in even steps.
type Anchor = readonly [number, number, number];

const onLight: readonly Anchor[] = [
  [0.88, 0.11, 112], [0.71, 0.12, 165], [0.52, 0.11, 235], [0.3, 0.15, 288],
];
const onDark: readonly Anchor[] = [
  [0.38, 0.11, 292], [0.54, 0.11, 238], [0.73, 0.14, 165], [0.92, 0.17, 106],
];

function rgbOfOklab(lightness: number, a: number, b: number): Rgb {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ];
  return linear.map((x) => {
    const inside = Math.min(1, Math.max(0, x));
    const shown = inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055;
    return Math.round(255 * shown);
  }) as Rgb;
}

function shadeAt(anchors: readonly Anchor[], part: number): Rgb {
  const place = part * (anchors.length - 1);
  const index = Math.min(anchors.length - 2, Math.floor(place));
  const [lightness, chroma, degrees] = [0, 1, 2].map((channel) => {
    const [from, to] = [anchors[index][channel], anchors[index + 1][channel]];
    return from + (place - index) * (to - from);
  });
  const hue = (degrees * Math.PI) / 180;
  return rgbOfOklab(lightness, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

const anchorsOf = (theme: Theme) =>
  bytesOf(theme.surface).reduce((sum, byte) => sum + byte, 0) < DARK_SUM ? onDark : onLight;

// [256][3]: red, green, blue, from the worst to the best.
export function shadeTable(theme: Theme): Uint8Array {
  const table = new Uint8Array(SHADES * 3);
  const anchors = anchorsOf(theme);
  for (let i = 0; i < SHADES; i++) table.set(shadeAt(anchors, i / (SHADES - 1)), i * 3);
  return table;
}

// So many of them for styles.
export function shades(theme: Theme, count: number): string[] {
  const anchors = anchorsOf(theme);
  return Array.from({ length: count }, (_, i) =>
    `rgb(${shadeAt(anchors, count === 1 ? 1 : i / (count - 1)).join()})`);
}
