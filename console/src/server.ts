// The server's API, for the views.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Htm, HtmError } from "htm-memory";

/** The client. The browser sends the cookie of whoever is signed in. A page repeats less than a program: somebody waits. */
export const htm = new Htm({ url: location.origin, retries: 1 });

/** An answer that is awaited, an answer, or an error. While another answer is awaited, the former one stays. */
export interface Answer<T> {
  value: T | undefined;
  error: HtmError | undefined;
  isLoading: boolean;
  /** Asks again. */
  reload: () => void;
}

/**
 * The answer to a question, asked again when the dependencies change. An older answer never replaces a newer one: its
 * request is aborted.
 */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[]): Answer<T> {
  const [state, setState] = useState<Omit<Answer<T>, "reload">>({ value: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((round) => round + 1), []);
  useEffect(() => {
    const abort = new AbortController();
    setState((state) => ({ ...state, isLoading: true }));
    ask(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value, error: undefined, isLoading: false }),
      (error) =>
        abort.signal.aborted || setState((state) => ({ value: state.value, error: asError(error), isLoading: false })),
    );
    return () => abort.abort();
  }, [...dependencies, round]);
  return { ...state, reload };
}

/** Asks again every few seconds, while the page is seen; not while an answer is awaited, or a slow one never came. */
export function usePolled(answer: Pick<Answer<unknown>, "isLoading" | "reload">, milliseconds: number): void {
  const latest = useRef(answer);
  latest.current = answer;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current.isLoading || latest.current.reload(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}

/** What was read of a list. */
export interface Paged<Item> {
  items: Item[];
  hasMore: boolean;
  isLoading: boolean;
  error: HtmError | undefined;
  /** Reads the next page, or the one that failed. */
  more: () => void;
}

interface Page<Item, Cursor> {
  items: Item[];
  next?: Cursor | null;
}

/** A list, a page at a time. It begins again when the dependencies change; until then the former one stays. */
export function usePaged<Item, Cursor>(
  read: (cursor: Cursor | undefined, signal: AbortSignal) => Promise<Page<Item, Cursor>>,
  dependencies: readonly unknown[],
): Paged<Item> {
  const [state, setState] = useState<Page<Item, Cursor>>({ items: [] });
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<HtmError>();
  const running = useRef<AbortController>(null);
  const ask = useCallback((former: Page<Item, Cursor> | undefined) => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setLoading(true);
    setError(undefined);
    read(former?.next ?? undefined, abort.signal).then(
      (page) => {
        if (abort.signal.aborted) return;
        setState({ items: [...(former?.items ?? []), ...page.items], next: page.next });
        setLoading(false);
      },
      (failure) => {
        if (abort.signal.aborted) return;
        setError(asError(failure));
        setLoading(false);
      },
    );
  }, dependencies);
  useEffect(() => {
    ask(undefined);
    return () => running.current?.abort();
  }, dependencies);
  const more = (): void => ask(state.items.length > 0 ? state : undefined);
  return { items: state.items, hasMore: Boolean(state.next), isLoading, error, more };
}

/** The event when the server no longer knows who is signed in. */
export const SIGNED_OUT = "console:signed-out";

/** Any failure as an error with a code. */
export function asError(error: unknown): HtmError {
  if (!(error instanceof HtmError)) {
    // A fault of the page: the browser's log has its place in the code.
    console.error(error);
    return new HtmError("page_failed", `The page failed: ${error}`, { hint: "Load the page again.", cause: error });
  }
  if (error.status === 401) dispatchEvent(new Event(SIGNED_OUT));
  return error;
}
