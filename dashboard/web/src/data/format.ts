// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes and points in time as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

// "512 B", "3.2 MiB"; "" where it is not known.
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return "";
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  const amount = bytes / 1024 ** step;
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`;
}

const two = (number: number) => String(number).padStart(2, "0");

// In the reader's time zone: "2026-11-22 06:44:39".
export function formatTime(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  const date = new Date(ms);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
