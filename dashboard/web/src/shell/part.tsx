// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the page that are loaded when they are first needed (parts.mjs).
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { isArchive } from "../api";

type Components = Readonly<Record<string, ComponentType<never>>>;

const found = signal<Components>({});
const isMissing = signal(false);
const asked = new Set<string>();

// What a part's script has.
export function addPart(components: Components): void {
  found.value = { ...found.peek(), ...components };
}

function load(part: string): void {
  if (isArchive() || asked.has(part)) return; // a file has all of them
  asked.add(part);
  const script = document.createElement("script");
  script.src = `${part}.js`;
  script.onerror = () => {
    isMissing.value = true;
    asked.delete(part);
  };
  document.head.append(script);
}

// A component of a part, which is there once the part is.
export const ofPart = <Props extends object>(part: string, name: string): ComponentType<Props> =>
  function OfPart(props: Props) {
    const Component = found.value[name] as unknown as ComponentType<object> | undefined;
    useEffect(() => load(part), []);
    if (Component !== undefined) return <Component {...props} />;
    return <p class="muted">{isMissing.value ? "Cannot load this part of the page." : "Loading …"}</p>;
  };
