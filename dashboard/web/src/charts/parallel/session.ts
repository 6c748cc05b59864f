// SPDX-License-Identifier: GPL-3.0-or-later
// Lines are drawn in a worker, where the browser has what that needs; what is
// said to it, and what it says. Both ends.
import { isArchive } from "../../api";
import { makePainter } from "./painter";
import type { Layout, Painted, Painter, Rows } from "./painter";

type Message =
  | { kind: "canvas"; canvas: OffscreenCanvas }
  | { kind: "rows"; rows: Rows }
  | { kind: "layout"; layout: Layout }
  | { kind: "mask"; mask: Uint8Array };

type Reply = { kind: "ready" } | ({ kind: "painted"; isQuick: boolean } & Painted);

export interface Drawn extends Painted {
  readonly isQuick: boolean;
}

export interface Lines {
  readonly isInWorker: boolean;
  setRows(rows: Rows): void;
  setLayout(layout: Layout): void;
  setMask(mask: Uint8Array): void;
  close(): void;
}

const IDLE_MS = 160; // without news, until the fine picture is made
const WORKER_READY_MAX_MS = 4000;

// ---- where it is drawn ----

// A quick picture at once when something changed, a fine one when nothing more
// comes. New rows add little to a fine one, and so make another one of it.
function makeShow(
  painter: Painter,
  onPainted: (drawn: Drawn) => void,
): (what: "rows" | "look") => void {
  let generation = 0;
  let isFine = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = async (isQuick: boolean) => {
    const mine = ++generation;
    clearTimeout(timer);
    const painted = await painter.paint(isQuick, () => mine !== generation);
    if (painted === null) return;
    isFine = !isQuick || painted.isExact;
    onPainted({ ...painted, isQuick });
    if (!isFine) timer = setTimeout(() => void show(false), IDLE_MS);
  };
  return (what) => void show(what === "look" || !isFine);
}

// What of a worker's global scope is used.
interface WorkerScope {
  onmessage: ((event: MessageEvent<Message>) => void) | null;
  postMessage(reply: Reply): void;
}

// The worker's end.
export function serveLines(scope: WorkerScope): void {
  const post = (reply: Reply) => scope.postMessage(reply);
  let painter: Painter | null = null;
  let show: ReturnType<typeof makeShow> = () => undefined;
  scope.onmessage = ({ data: message }) => {
    if (message.kind === "canvas") {
      painter = makePainter(message.canvas);
      show = makeShow(painter, (drawn) => post({ kind: "painted", ...drawn }));
      return;
    }
    if (message.kind === "rows") painter?.setRows(message.rows);
    else if (message.kind === "layout") painter?.setLayout(message.layout);
    else painter?.setMask(message.mask);
    show(message.kind === "rows" ? "rows" : "look");
  };
  post({ kind: "ready" });
}

// ---- the page's end ----

// The script that the page itself is: its file, or (where somebody was sent the
// page as one file) its text.
function startWorker(): Worker {
  if (!isArchive()) return new Worker("app.js");
  const scripts = [...document.scripts].filter(({ type }) => type === "");
  const text = scripts.map((script) => script.textContent ?? "").join("\n");
  return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}

function readyWorker(): Promise<Worker | null> {
  return new Promise((resolve) => {
    if (typeof OffscreenCanvas === "undefined") return resolve(null);
    let worker: Worker;
    try {
      worker = startWorker();
    } catch {
      return resolve(null);
    }
    const giveUp = () => {
      worker.terminate();
      resolve(null);
    };
    const timer = setTimeout(giveUp, WORKER_READY_MAX_MS);
    worker.onerror = giveUp;
    worker.onmessage = () => {
      clearTimeout(timer);
      worker.onerror = null;
      resolve(worker);
    };
  });
}

function linesHere(canvas: HTMLCanvasElement, onPainted: (drawn: Drawn) => void): Lines {
  const painter = makePainter(canvas);
  const show = makeShow(painter, onPainted);
  let frame = 0;
  const then = <T>(change: (value: T) => void, what: "rows" | "look") => (value: T) => {
    change(value);
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => show(what));
  };
  return {
    isInWorker: false,
    setRows: then(painter.setRows, "rows"),
    setLayout: then(painter.setLayout, "look"),
    setMask: then(painter.setMask, "look"),
    close: () => cancelAnimationFrame(frame),
  };
}

// What is made for the worker alone, and so can be moved there.
function arraysOf({ axes, values, list }: Rows): Transferable[] {
  const all = [...axes.map(({ data }) => data), values, list];
  return all.flatMap((data) => (ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : []));
}

function linesThere(
  worker: Worker,
  canvas: HTMLCanvasElement,
  onPainted: (drawn: Drawn) => void,
): Lines {
  // One mask is on its way at most; of those that come meanwhile, the last.
  let isBusy = false;
  let next: Uint8Array | null = null;
  const send = (message: Message, moved: Transferable[] = []) =>
    worker.postMessage(message, moved);
  const sendMask = (mask: Uint8Array) => {
    isBusy = true;
    send({ kind: "mask", mask });
  };
  worker.onmessage = ({ data: reply }: MessageEvent<Reply>) => {
    if (reply.kind !== "painted") return;
    onPainted(reply);
    isBusy = false;
    if (next !== null) sendMask(next);
    next = null;
  };
  const offscreen = canvas.transferControlToOffscreen();
  send({ kind: "canvas", canvas: offscreen }, [offscreen]);
  return {
    isInWorker: true,
    setRows: (rows) => send({ kind: "rows", rows }, arraysOf(rows)),
    setLayout: (layout) => send({ kind: "layout", layout }),
    setMask: (mask) => (isBusy ? (next = mask) : sendMask(mask)),
    close: () => worker.terminate(),
  };
}

export async function openLines(
  canvas: HTMLCanvasElement,
  onPainted: (drawn: Drawn) => void,
): Promise<Lines> {
  const worker = await readyWorker();
  return worker === null ? linesHere(canvas, onPainted) : linesThere(worker, canvas, onPainted);
}
