// SPDX-License-Identifier: GPL-3.0-or-later
// Asks the server, or (in a file that somebody was sent) the archive in it.
import { decodeBlock } from "./data/columns";
import type { Block } from "./data/columns";
import { sessionPath } from "./session_key";

const PREFIX = "/api/v1";

export const address = (path: string) => sessionPath() + PREFIX + path;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string, // "not_found", "busy" ...
    text: string,
  ) {
    super(text);
  }
}

// ---- the archive (dashboard/archive/archive.h) ----

// Of a piece of something longer: where it begins, and how long that is.
interface Piece {
  type: string;
  from?: number;
  size?: number;
}
type Entry = Piece & ({ json: unknown } | { base64gz: string });

let archive: Map<string, Entry> | null | undefined;

// The answers that came with the page, by their path; null: there is a server.
function entries(): Map<string, Entry> | null {
  if (archive !== undefined) return archive;
  const elements = typeof document === "undefined" ? [] : [
    ...document.querySelectorAll<HTMLScriptElement>('script[type="application/json"][data-archive]'),
  ];
  archive = elements.length === 0 ? null : new Map(
    elements.flatMap((element) => Object.entries(JSON.parse(element.textContent ?? "{}") as object)),
  );
  return archive;
}

export const isArchive = () => entries() !== null;

async function unpack(base64: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

// What is in the file is there once, whatever part of it is asked for; but each
// metric has its own answer, and each page.
function keyOf(path: string): string {
  const [base, query] = path.split("?");
  const asked = new URLSearchParams(query);
  const kept = ["name", "after"]
    .map((key) => [key, asked.get(key) ?? ""])
    .filter(([, value]) => value !== "" && value !== "0")
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return kept.length === 0 ? base : `${base}?${kept.join("&")}`;
}

function entry(path: string): Entry {
  const found = entries()?.get(PREFIX + keyOf(path));
  if (found === undefined)
    throw new ApiError(404, "not_in_file", "this file does not contain it");
  return found;
}

// ---- the server ----

async function problem(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: { kind: string; text: string } };
    return new ApiError(response.status, error.kind, error.text);
  } catch {
    return new ApiError(response.status, "failed", `${response.status} ${response.statusText}`);
  }
}

// The server says when to ask again where others ask it for too much.
async function ask(path: string, signal?: AbortSignal, times = 5): Promise<Response> {
  const response = await fetch(address(path), { signal });
  if (response.ok) return response;
  const afterS = Number(response.headers.get("Retry-After"));
  if (afterS === 0 || times === 0) throw await problem(response);
  await new Promise((resolve) => setTimeout(resolve, afterS * 1000));
  return ask(path, signal, times - 1);
}

// ---- both; paths are those behind /api/v1 ----

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  if (!isArchive()) return (await ask(path, signal)).json() as Promise<T>;
  const found = entry(path);
  if ("json" in found) return found.json as T;
  return JSON.parse(new TextDecoder().decode(await unpack(found.base64gz))) as T;
}

export async function getBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  if (!isArchive()) return (await ask(path, signal)).arrayBuffer();
  const found = entry(path);
  if ("base64gz" in found) return unpack(found.base64gz);
  throw new ApiError(404, "not_in_file", "this file does not contain it");
}

export async function getBlock(path: string, signal?: AbortSignal): Promise<Block> {
  return decodeBlock(await getBytes(path, signal));
}

// A piece of a text file, its bytes as they are, and how long the file is. from
// < 0: so many from its end.
export async function getRange(
  path: string,
  from: number,
  length: number,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array; from: number; sizeBytes: number; ranks: number }> {
  if (isArchive()) {
    const whole = new Uint8Array(await getBytes(path));
    const { from: first = 0, size = whole.length } = entry(path);
    const asked = from < 0 ? size + from : from;
    const begin = Math.max(asked, first);
    const end = Math.max(asked + length, begin);
    const bytes = whole.subarray(begin - first, end - first);
    return { bytes, from: begin, sizeBytes: size, ranks: 1 };
  }
  const mark = path.includes("?") ? "&" : "?";
  const response = await ask(`${path}${mark}from=${from}&length=${length}`, signal);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    bytes,
    from: Number(response.headers.get("X-Smtune-From") ?? 0),
    sizeBytes: Number(response.headers.get("X-Smtune-Size") ?? bytes.length),
    ranks: Number(response.headers.get("X-Smtune-Ranks") ?? 1),
  };
}

export async function post<T>(path: string, body: object): Promise<T> {
  const response = await fetch(address(path), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await problem(response);
  return response.json() as Promise<T>;
}
