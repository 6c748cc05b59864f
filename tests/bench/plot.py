# SPDX-License-Identifier: GPL-3.0-or-later
"""Line plots as SVG, for the pictures in docs/."""

import math


class Panel:
    """A plot with its lower left corner at (left, bottom); logarithmic x."""

    def __init__(self, left, bottom, size, x_range, y_range, log_y):
        self.left, self.bottom = left, bottom
        self.width, self.height = size
        self.x_range, self.y_range, self.log_y = x_range, y_range, log_y
        self.parts = []

    @staticmethod
    def share(value, limits, is_log):
        low, high = limits
        if is_log:
            value, low, high = map(math.log, (value, low, high))
        return (value - low) / (high - low)

    def place(self, x, y):
        return (self.left + self.width * self.share(x, self.x_range, True),
                self.bottom
                - self.height * self.share(y, self.y_range, self.log_y))

    def text(self, x, y, words, anchor="middle", extra=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor='
                          f'"{anchor}" {extra}>{words}</text>')

    def line(self, points, style):
        path = " ".join(f"{x:.1f},{y:.1f}"
                        for x, y in (self.place(*p) for p in points))
        self.parts.append(f'<polyline points="{path}" fill="none" {style}/>')

    def dots(self, points, colour):
        for x, y in (self.place(*p) for p in points):
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"'
                              f' fill="{colour}"/>')

    def axes(self, title, x_name, y_name, x_ticks, y_ticks):
        grid = 'stroke="#dddddd" stroke-width="1"'
        for tick, words in x_ticks:
            self.line([(tick, y) for y in self.y_range], grid)
            self.text(self.place(tick, self.y_range[0])[0], self.bottom + 16,
                      words)
        for tick, words in y_ticks:
            self.line([(x, tick) for x in self.x_range], grid)
            self.text(self.left - 6, self.place(self.x_range[0], tick)[1] + 4,
                      words, "end")
        self.text(self.left + self.width / 2, self.bottom + 34, x_name)
        self.text(self.left, self.bottom - self.height - 12, title, "start",
                  'font-weight="bold"')
        x, y = self.left - 62, self.bottom - self.height / 2
        self.text(x, y, y_name, "middle", f'transform="rotate(-90 {x:.0f}'
                  f' {y:.0f})"')


def decades(low, high):
    return [(10.0 ** k, f"{10 ** k:,}")
            for k in range(math.ceil(math.log10(low)),
                           math.floor(math.log10(high)) + 1)]


def legend(x, y, colour, words):
    """A piece of a line and what it stands for, left end at (x, y)."""
    return (f'<rect x="{x}" y="{y - 9}" width="20" height="4"'
            f' fill="{colour}"/><text x="{x + 27}" y="{y}">{words}</text>')


def svg(width, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width}'
        f' {height}" font-family="sans-serif" font-size="13"'
        ' fill="#222222">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *parts, "</svg>"]) + "\n"
