// SPDX-License-Identifier: GPL-3.0-or-later
// What colours from bad to good mean.
import { shades } from "./shades";
import { useTheme } from "./theme";

export function Shades(props: { levels: number; from: string; to: string }) {
  const { levels, from, to } = props;
  const theme = useTheme();
  const colors = shades(theme, levels).join(", ");
  return (
    <span class="shades">
      {from}
      <span class="shades-ramp" aria-hidden="true"
        style={{ background: `linear-gradient(to right, ${colors})` }} />
      {to}
    </span>
  );
}
