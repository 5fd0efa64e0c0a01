// Text fields that the address follows while somebody types.

import { useEffect, useRef, useState } from "preact/hooks";

interface Followed {
  typed: string;
  type: (text: string) => void;
  /** Follows at once. */
  follow: () => void;
}

interface Options {
  /** The address follows when the fingers have rested for so long. */
  restMs: number;
  /** Back and forward, or a link, have changed what stands in the field. */
  moved?: () => void;
}

/** The text of a field. `write` changes the text of the address. */
export function useFollowed(text: string, write: (typed: string) => void, { restMs, moved }: Options): Followed {
  const [typed, type] = useState(text);
  // The text that the address has by typing.
  const written = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const follow = (): void => {
    clearTimeout(timer.current);
    if (typed === text) return;
    written.current = typed;
    write(typed);
  };

  // What typing has written does not change the field: the fingers may be further.
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
