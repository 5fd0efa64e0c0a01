// Short messages: what was done, with a way back, or what failed.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asError } from "../server";
import { Problem } from "./basics";

interface Toast {
  id: number;
  content: JSX.Element;
}

let shown: Toast[] = [];
let next = 0;
const listeners = new Set<(toasts: Toast[]) => void>();

function update(toasts: Toast[]): void {
  shown = toasts;
  listeners.forEach((listener) => listener(toasts));
}

function show(content: JSX.Element, milliseconds: number): void {
  const id = next++;
  update([...shown, { id, content }]);
  setTimeout(() => dismiss(id), milliseconds);
}

function dismiss(id: number): void {
  update(shown.filter((toast) => toast.id !== id));
}

/** Says what was done. `undo` takes it back. */
export function say(text: string, undo?: () => Promise<unknown>): void {
  const id = next;
  show(
    <div class="notice row">
      <span>{text}</span>
      {undo && (
        <button
          type="button"
          class="button"
          onClick={() => {
            dismiss(id);
            void attempt(undo);
          }}
        >
          Undo
        </button>
      )}
    </div>,
    undo ? 12_000 : 5_000,
  );
}

/** Does something, and shows the error if it fails. Returns whether it was done. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (failure) {
    show(<Problem error={asError(failure)} />, 12_000);
    return false;
  }
}

export function Toasts(): JSX.Element {
  const [toasts, setToasts] = useState(shown);
  useEffect(() => {
    listeners.add(setToasts);
    return () => void listeners.delete(setToasts);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, content }) => (
        <div key={id}>{content}</div>
      ))}
    </div>
  );
}
