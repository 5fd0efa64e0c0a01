// Text fields that the address follows while somebody types.

import { useEffect, useRef, useState } from "preact/hooks";

interface Followed {
  typed: string;
  type: (text: string) => void;
  /** Follows at once. */
  follow: () => void;
}

interface Options {
  /** The pause in typing after which the address follows. */
  restMs: number;
  /** Back and forward, or a link, have changed what stands in the field. */
  moved?: () => void;
}

/** The text of a field. `write` changes the text of the address. */
export function useFollowed(text: string, write: (typed: string) => void, { restMs, moved }: Options): Followed {
  const [typed, type] = useState(text);
  // The last text of the address that the field has, or had when somebody typed on.
  const written = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const follow = (): void => {
    clearTimeout(timer.current);
    if (typed === text) return;
    written.current = typed;
    write(typed);
  };

  // A text that this field wrote to the address does not change the field: somebody may have typed on.
  useEffect(() => {
    if (text === written.current) return;
    written.current = text;
    moved?.();
    type(text);
  }, [text]);
  useEffect(() => {
    timer.current = setTimeout(follow, restMs);
    return () => clearTimeout(timer.current);
  }, [typed]);
  return { typed, type, follow };
}
