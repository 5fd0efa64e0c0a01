// The server's API, for the views.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Htm, HtmError } from "htm-memory";

/** The client. The browser sends the cookie of whoever is signed in. A page repeats less than a program: somebody waits. */
export const htm = new Htm({ url: location.origin, retries: 1 });

/** A question, which may be asked again. */
export interface Question {
  isLoading: boolean;
  /** When it may be asked again by itself, by the clock of `performance`. */
  due: number;
  /** Asks again. */
  reload: () => void;
}

/** An answer that is awaited, an answer, or an error. While another answer is awaited, the former one stays. */
export interface Answer<T> extends Question {
  value: T | undefined;
  error: HtmError | undefined;
}

// A slow answer has read much. A question is in hand for less than a tenth of the time.
const RESTS = 10;
// A computer may sleep while an answer is awaited, which then seems to have taken hours.
const LONGEST_REST_MS = 600_000;

/** When a question that was asked at a time is due again, if its answer comes now. */
function dueAfter(asked: number, now = performance.now()): number {
  return now + Math.min(RESTS * (now - asked), LONGEST_REST_MS);
}

/**
 * The answer to a question, asked again when the dependencies change. An older answer never replaces a newer one: its
 * request is aborted.
 */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[]): Answer<T> {
  const nothing = { value: undefined, error: undefined, isLoading: true, due: 0 };
  const [state, setState] = useState<Omit<Answer<T>, "reload">>(nothing);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((round) => round + 1), []);
  useEffect(() => {
    const abort = new AbortController();
    const asked = performance.now();
    setState((state) => ({ ...state, isLoading: true }));
    ask(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value, error: undefined, isLoading: false, due: dueAfter(asked) }),
      (error) =>
        abort.signal.aborted ||
        setState(({ value }) => ({ value, error: asError(error), isLoading: false, due: dueAfter(asked) })),
    );
    return () => abort.abort();
  }, [...dependencies, round]);
  return { ...state, reload };
}

/**
 * Asks again every few seconds, while the page is seen; not before it is due, and not while an answer is awaited, or a slow
 * one never came. The view is drawn again all the same: it says how long ago things were. No milliseconds: nothing is asked.
 */
export function usePolled(asked: Question | undefined, milliseconds: number | undefined): void {
  const latest = useRef(asked);
  latest.current = asked;
  const [, draw] = useState({});
  useEffect(() => {
    if (milliseconds === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.hidden || !latest.current) return;
      const { isLoading, due, reload } = latest.current;
      if (isLoading || performance.now() < due) draw({});
      else reload();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}

/** What was read of a list. */
export interface Paged<Item> extends Omit<Question, "reload"> {
  items: Item[];
  hasMore: boolean;
  error: HtmError | undefined;
  /** Reads the next page, or the one that failed. */
  more: () => void;
}

interface Page<Item, Cursor> {
  items: Item[];
  next?: Cursor | null;
}

/** The pages that were read so far, and the list that they are of: with other dependencies it is another one. */
interface Pages<Item, Cursor> extends Page<Item, Cursor> {
  of?: unknown;
}

/** A list, a page at a time. It begins again when the dependencies change; until then the former one stays. */
export function usePaged<Item, Cursor>(
  read: (cursor: Cursor | undefined, signal: AbortSignal) => Promise<Page<Item, Cursor>>,
  dependencies: readonly unknown[],
): Paged<Item> {
  const [state, setState] = useState<Pages<Item, Cursor>>({ items: [] });
  const [isLoading, setLoading] = useState(true);
  const [due, setDue] = useState(0);
  const [error, setError] = useState<HtmError>();
  const running = useRef<AbortController>(null);
  const ask = useCallback(function ask(former: Pages<Item, Cursor> | undefined): void {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    const asked = performance.now();
    const ended = (): void => {
      setLoading(false);
      setDue(dueAfter(asked));
    };
    setLoading(true);
    setError(undefined);
    read(former?.next ?? undefined, abort.signal).then(
      (page) => {
        if (abort.signal.aborted) return;
        setState({ items: [...(former?.items ?? []), ...page.items], next: page.next, of: ask });
        ended();
      },
      (failure) => {
        if (abort.signal.aborted) return;
        setError(asError(failure));
        ended();
      },
    );
  }, dependencies);
  useEffect(() => {
    ask(undefined);
    return () => running.current?.abort();
  }, dependencies);
  // While the former list is shown, its first page is what is missing.
  const more = (): void => ask(state.of === ask ? state : undefined);
  return { items: state.items, hasMore: Boolean(state.next), isLoading, due, error, more };
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
