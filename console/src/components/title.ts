// The title of the page.

import { useEffect } from "preact/hooks";

/** Gives the page a title. The frame has set its own one before. */
export function useTitle(text: string): void {
  useEffect(() => {
    // Effects of the frame come after those of what is in it.
    const timer = setTimeout(() => (document.title = `${text} · HTM`));
    return () => clearTimeout(timer);
  }, [text]);
}
