// The ontology of a namespace as the server has it, and lists that are read page by page.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { HtmError, models } from "htm-memory";
import { asError, htm } from "../../server";

/** All tags and their other names. */
export interface Ontology {
  uses: models.TagUse[];
  synonyms: models.Synonym[];
}

const PAGE = 10_000;

export async function ontology(namespace: string | undefined, signal: AbortSignal): Promise<Ontology> {
  const [uses, synonyms] = await Promise.all([
    allTags(namespace, signal),
    htm.tags.synonyms({ namespace }, { signal }),
  ]);
  return { uses, synonyms };
}

async function allTags(namespace: string | undefined, signal: AbortSignal): Promise<models.TagUse[]> {
  const tags: models.TagUse[] = [];
  let cursor: string | null | undefined;
  do {
    const page: models.TagPage = await htm.tags.list({ namespace, cursor, limit: PAGE }, { signal });
    tags.push(...page.tags);
    cursor = page.next;
  } while (cursor);
  return tags;
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
