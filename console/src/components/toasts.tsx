// Short messages: what was done, with a way back, or what failed.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asError } from "../server";
import { Problem } from "./basics";
import { focusIfLost } from "./focus";

interface Toast {
  id: number;
  about: string | undefined;
  content: JSX.Element;
}

let shown: Toast[] = [];
let next = 0;
const listeners = new Set<(toasts: Toast[]) => void>();

function update(toasts: Toast[]): void {
  shown = toasts;
  listeners.forEach((listener) => listener(toasts));
}

function show(content: JSX.Element, milliseconds: number, about?: string): void {
  const id = next++;
  const others = shown.filter((toast) => about === undefined || toast.about !== about);
  update([...others, { id, about, content }]);
  setTimeout(() => dismiss(id), milliseconds);
}

/** Takes back all messages: another user has come. */
export function dismissAll(): void {
  update([]);
}

function dismiss(id: number): void {
  update(shown.filter((toast) => toast.id !== id));
}

interface Options {
  /** What it is about: it replaces a former message about the same, which is no longer true. */
  about?: string;
}

/** Says what was done. `undo` takes it back. */
export function say(text: string, undo?: () => Promise<unknown>, { about }: Options = {}): void {
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
            focusIfLost();
            void attempt(undo);
          }}
        >
          Undo
        </button>
      )}
    </div>,
    undo ? 12_000 : 5_000,
    about,
  );
}

/** Says what failed. */
export function sayFailed(failure: unknown): void {
  show(<Problem error={asError(failure)} />, 12_000);
}

/** Does something, and shows the error if it fails. Returns whether it was done. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (failure) {
    sayFailed(failure);
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
