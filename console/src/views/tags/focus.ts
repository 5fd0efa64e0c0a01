// Where the focus goes when what had it is gone.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useHere } from "./here";

/** A heading that takes the focus if a change has removed what had it. `shown` is what is shown anew after a change. */
export function useFocusTaker(shown: unknown): RefObject<HTMLHeadingElement | null> {
  const { version } = useHere();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (version > 0 && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [shown]);
  return heading;
}
