// SPDX-License-Identifier: GPL-3.0-or-later
// A dialog above the page: one at a time, closed with Escape.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

const shown = signal<(() => ComponentChildren) | null>(null);

export function openDialog(content: () => ComponentChildren): void {
  shown.value = content;
}

export function closeDialog(): void {
  shown.value = null;
}

export function Dialogs() {
  const content = shown.value;
  return content === null ? null : <>{content()}</>;
}

interface DialogProps {
  title: string;
  isWide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, isWide, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby="dialog-title"
      onClose={closeDialog}
      onClick={(event) => event.target === element.current && closeDialog()}
    >
      <div class="dialog-body">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
