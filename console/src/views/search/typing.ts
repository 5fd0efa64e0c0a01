// The text of the search box. The address follows it while somebody types; the history has the searches, not the letters.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Query, Setter } from "./query";

// While somebody types, an answer is asked for when the fingers rest.
const REST_MS = 180;

// A search that stays this long is one to come back to.
const SETTLED_MS = 3_000;

interface Typing {
  typed: string;
  type: (text: string) => void;
  /** Searches at once. */
  submit: () => void;
  /** Changes the search in another way than by typing. */
  change: Setter;
}

export function useTyping(query: Query, set: Setter): Typing {
  const { text } = query;
  const [typed, type] = useState(text);
  // The text that the address has by typing, and whether it may be typed over: nobody has submitted it or rested on it.
  const written = useRef(text);
  const isDraft = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const write = (): void => {
    clearTimeout(timer.current);
    if (typed === text) return;
    const replace = isDraft.current || text === "";
    written.current = typed;
    isDraft.current = true;
    set({ text: typed }, replace);
  };
  const submit = (): void => {
    write();
    isDraft.current = false;
  };
  const change: Setter = (change) => {
    isDraft.current = false;
    set(change);
  };

  // Back and forward change what stands in the box. What typing has written does not: the fingers may be further.
  useEffect(() => {
    if (text === written.current) return;
    written.current = text;
    isDraft.current = false;
    type(text);
  }, [text]);
  useEffect(() => {
    timer.current = setTimeout(write, REST_MS);
    return () => clearTimeout(timer.current);
  }, [typed]);
  useEffect(() => {
    const settle = setTimeout(() => (isDraft.current = false), SETTLED_MS);
    return () => clearTimeout(settle);
  }, [text]);
  return { typed, type, submit, change };
}
