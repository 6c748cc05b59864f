// SPDX-License-Identifier: GPL-3.0-or-later
// The URL's hash holds the whole view: #/runs/3/parallel?f.param:lr=0.001..0.1&trial=17
import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { Filter, Filters, Held } from "./types";

const FILTER_PREFIX = "f.";

interface Place {
  path: string;
  query: ReadonlyMap<string, string>;
}

function parse(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  return { path: path || "/", query: new Map(new URLSearchParams(query)) };
}

function print({ path, query }: Place): string {
  // These may stand in a hash as they are, and are better to read so.
  const text = new URLSearchParams([...query]).toString().replace(/%3A/g, ":").replace(/%2C/g, ",");
  return `#${path}${text === "" ? "" : `?${text}`}`;
}

const place = signal<Place>(parse(typeof location === "undefined" ? "" : location.hash));

export const path: ReadonlySignal<string> = computed(() => place.value.path);

export const query: ReadonlySignal<ReadonlyMap<string, string>> = computed(
  () => place.value.query,
);

const KEYS_OF_RUN = new Set(["trial", "compare", "sort", "columns", "base", "all"]);

// What stays from one view of a run to the next: filters, which trials are
// looked at, and how the table of them stands.
export const isOfRun = (key: string) => key.startsWith(FILTER_PREFIX) || KEYS_OF_RUN.has(key);

export function watchUrl(): void {
  addEventListener("hashchange", () => {
    clearTimeout(writing);
    writing = undefined;
    place.value = parse(location.hash);
  });
  addEventListener("pagehide", write);
  addEventListener("click", write, true); // what a link leaves behind is whole
}

// Browsers let an address be changed a few times a second only: it follows when
// what moves has come to rest.
const WRITE_PAUSE_MS = 150;
let writing: ReturnType<typeof setTimeout> | undefined;
let hashLeft = ""; // the address that is to be replaced

function write(): void {
  if (writing === undefined) return;
  clearTimeout(writing);
  writing = undefined;
  // A link or the back button may have been quicker: hashchange will say so.
  if (location.hash === hashLeft) history.replaceState(null, "", print(place.peek()));
}

function go(next: Place, isStep: boolean): void {
  if (isStep) write();
  place.value = next;
  if (isStep) return history.pushState(null, "", print(next));
  if (writing === undefined) hashLeft = location.hash;
  clearTimeout(writing);
  writing = setTimeout(write, WRITE_PAUSE_MS);
}

// Another page: a step that the browser's back button takes back. What `keeps`
// says of the query stays.
export function visit(nextPath: string, keeps: (key: string) => boolean = () => false): void {
  const query = new Map([...place.peek().query].filter(([key]) => keeps(key)));
  go({ path: nextPath, query }, true);
}

// A link's address for the same.
export function href(nextPath: string, query: ReadonlyMap<string, string> = new Map()): string {
  return print({ path: nextPath, query });
}

function setQuery(key: string, text: string): void {
  const query = new Map(place.peek().query);
  if (text === "") query.delete(key);
  else query.set(key, text);
  if (query.get(key) !== place.peek().query.get(key)) go({ path: place.peek().path, query }, false);
}

// A value that is held under a key of the query; the fallback is not written
// there. Reading follows the URL as a signal does, writing changes it.
function held<T>(
  key: string,
  fallback: T,
  toText: (value: T) => string,
  fromText: (text: string) => T | undefined,
): Held<T> {
  const current = computed(() => {
    const text = place.value.query.get(key);
    return text === undefined ? fallback : (fromText(text) ?? fallback);
  });
  return {
    get value() {
      return current.value;
    },
    set value(next) {
      const text = toText(next);
      setQuery(key, text === toText(fallback) ? "" : text);
    },
    peek: () => current.peek(),
  };
}

export const heldText = (key: string, fallback = "") =>
  held(key, fallback, String, (text) => text);

export const heldNumber = (key: string, fallback = 0) =>
  held(key, fallback, String, (text) => {
    const number = Number(text);
    return Number.isFinite(number) ? number : undefined;
  });

export const heldNumbers = (key: string) =>
  held<readonly number[]>(
    key,
    [],
    (numbers) => numbers.join(","),
    (text) => text.split(",").map(Number).filter(Number.isFinite),
  );

// ---- filters: f.NAME=min..max, f.NAME==word,word, f.NAME=~text ----

function filterText(filter: Filter): string {
  if (filter.kind === "range") return `${filter.min}..${filter.max}`;
  if (filter.kind === "text") return `~${filter.text}`;
  return `=${filter.words.map(encodeURIComponent).join(",")}`;
}

function filterOf(text: string): Filter | undefined {
  if (text.startsWith("~")) return { kind: "text", text: text.slice(1) };
  if (text.startsWith("="))
    return { kind: "words", words: text.slice(1).split(",").map(decodeURIComponent) };
  const [min, max] = text.split("..").map(Number);
  if (max === undefined || Number.isNaN(min) || Number.isNaN(max)) return undefined;
  return { kind: "range", min, max };
}

function filtersOf(query: ReadonlyMap<string, string>): Filters {
  const filters = new Map<string, Filter>();
  for (const [key, text] of query) {
    const filter = key.startsWith(FILTER_PREFIX) ? filterOf(text) : undefined;
    if (filter !== undefined) filters.set(key.slice(FILTER_PREFIX.length), filter);
  }
  return filters;
}

const filtersText = (query: ReadonlyMap<string, string>) =>
  [...query].filter(([key]) => key.startsWith(FILTER_PREFIX)).toString();

const currentFiltersText = computed(() => filtersText(place.value.query));
const currentFilters = computed(() => {
  void currentFiltersText.value; // other keys make no new filters
  return filtersOf(place.peek().query);
});

export const heldFilters: Held<Filters> = {
  get value() {
    return currentFilters.value;
  },
  set value(next) {
    const others = [...place.peek().query].filter(([key]) => !key.startsWith(FILTER_PREFIX));
    const filters = [...next].map(
      ([name, filter]) => [FILTER_PREFIX + name, filterText(filter)] as const,
    );
    go({ path: place.peek().path, query: new Map([...others, ...filters]) }, false);
  },
  peek: () => currentFilters.peek(),
};
