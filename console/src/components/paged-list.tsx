// A list that is read page by page.

import type { ComponentChildren, JSX } from "preact";
import type { Paged } from "../server";
import { Empty, Problem, ShowMore, Waiting } from "./basics";

interface Properties<Item> {
  list: Paged<Item>;
  /** Is shown if there is nothing. */
  none: ComponentChildren;
  /** How much of how much is shown. */
  shown?: ComponentChildren;
  /** The most that is shown here, and what stands at the end then. */
  most?: { items: number; end: ComponentChildren };
  children: (items: readonly Item[]) => ComponentChildren;
}

/** What was read of a list, and what stands in its place or at its end. */
export function PagedList<Item>({ list, none, shown, most, children }: Properties<Item>): JSX.Element {
  const { items, hasMore, isLoading, due, error, more } = list;
  const isFull = most !== undefined && items.length >= most.items;
  return (
    <>
      {items.length > 0 && children(items)}
      {error && <Problem error={error} asked={{ isLoading, due, reload: more }} />}
      {items.length === 0 && isLoading && <Waiting />}
      {items.length === 0 && !isLoading && !error && (
        <Empty>
          <p>{none}</p>
        </Empty>
      )}
      {hasMore && isFull && <p class="row small muted">{most.end}</p>}
      {hasMore && !isFull && (
        <ShowMore act={more} isBusy={isLoading}>
          {shown}
        </ShowMore>
      )}
    </>
  );
}
