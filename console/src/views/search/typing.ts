// The text of the search box. The address follows it while somebody types; the history has the searches, not the letters.

import { useEffect, useRef } from "preact/hooks";
import { useFollowed } from "../../components/followed";
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
  // Whether the text of the address may be typed over: nobody has submitted it or rested on it.
  const isDraft = useRef(false);
  const write = (typed: string): void => {
    const replace = isDraft.current || text === "";
    isDraft.current = true;
    set({ text: typed }, replace);
  };
  const { typed, type, follow } = useFollowed(text, write, { restMs: REST_MS, moved: () => (isDraft.current = false) });
  const submit = (): void => {
    follow();
    isDraft.current = false;
  };
  const change: Setter = (change) => {
    isDraft.current = false;
    set(change);
  };

  useEffect(() => {
    const settle = setTimeout(() => (isDraft.current = false), SETTLED_MS);
    return () => clearTimeout(settle);
  }, [text]);
  return { typed, type, submit, change };
}
