// Where the focus goes when what had it is gone.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The content: whoever reads on begins at its top. */
export function focusContent(): void {
  document.getElementById("content")?.focus({ preventScroll: true });
}

// When a page has just been loaded, nothing has lost the focus.
let hadFocus = false;
addEventListener("focusin", () => (hadFocus = true), { once: true });

function isLost(): boolean {
  if (!hadFocus) return false;
  return document.activeElement === null || document.activeElement === document.body;
}

/** Gives the focus to an element, or else to the content, if nothing has it once the page is drawn. */
export function focusIfLost(heir?: () => HTMLElement | null | undefined): void {
  // A browser takes the focus from a disabled button only with the picture after it.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (!isLost()) return;
      const element = heir?.();
      if (element) element.focus({ preventScroll: true });
      else focusContent();
    }),
  );
}

/** An element that takes the focus if something new is shown, and what had the focus is gone. `shown`: what is shown. */
export function useFocusTaker<E extends HTMLElement = HTMLHeadingElement>(
  shown: unknown,
  isWanted = true,
): RefObject<E | null> {
  const element = useRef<E>(null);
  useEffect(() => {
    if (isWanted && isLost()) element.current?.focus({ preventScroll: true });
  }, [shown]);
  return element;
}
