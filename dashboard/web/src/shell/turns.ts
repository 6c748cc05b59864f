// SPDX-License-Identifier: GPL-3.0-or-later
// No text of the page and of its pictures turns its direction. What the page
// sends has the characters as they are.
import { options } from "preact";
import { withoutTurns } from "../data/turns";

const SHOWN = ["title", "alt", "placeholder", "aria-label"];

// As Preact makes them: of a text, the text itself is in place of attributes.
interface Node {
  readonly type: unknown;
  props: string | Record<string, unknown>;
}

function showNode(node: Node): void {
  const { props } = node;
  if (typeof props === "string") node.props = withoutTurns(props);
  else if (typeof node.type === "string")
    for (const name of SHOWN) {
      const text = props[name];
      if (typeof text === "string") props[name] = withoutTurns(text);
    }
}

export function startTurns(): void {
  const { vnode: before } = options;
  options.vnode = (vnode) => {
    showNode(vnode as unknown as Node);
    before?.(vnode);
  };
  const canvas = CanvasRenderingContext2D.prototype;
  const { fillText, measureText } = canvas;
  canvas.fillText = function (text, ...place) {
    fillText.call(this, withoutTurns(text), ...place);
  };
  canvas.measureText = function (text) {
    return measureText.call(this, withoutTurns(text));
  };
}
