// The memories with a tag or one below it.

import type { JSX } from "preact";
import { Problem, count, number } from "../../components/basics";
import { Link, address } from "../../router";
import { htm, usePaged } from "../../server";
import { useHere } from "./here";

const PAGE = 20;
const MOST = 200;
const LETTERS = 280;

export function TagMemories({ tag, total }: { tag: string; total: number | undefined }): JSX.Element {
  const { namespace, version } = useHere();
  const { items, hasMore, isLoading, due, error, more } = usePaged(
    async (cursor: number | undefined, signal) => {
      const { nodes, next } = await htm.tags.memories(tag, { namespace, cursor, limit: PAGE }, { signal });
      return { items: nodes, next };
    },
    [tag, namespace, version],
  );
  const isFull = items.length >= MOST;
  return (
    <section class="stack" aria-label="Memories" aria-busy={isLoading}>
      <h3>Memories, the newest first</h3>
      {items.length === 0 && !isLoading && !error && <p class="muted">No memory has this tag.</p>}
      <ul class="tag-memories">
        {items.map(({ node, content }) => (
          <li key={node}>
            <Link to={address(`/console/memories/${node}`)}>Memory {node}</Link>
            <p class="stored small">{content.length > LETTERS ? `${content.slice(0, LETTERS)}…` : content}</p>
          </li>
        ))}
      </ul>
      {error && <Problem error={error} asked={{ isLoading, due, reload: more }} />}
      {isLoading && items.length === 0 && (
        <p class="muted" role="status">
          Loading …
        </p>
      )}
      {hasMore && (
        <p class="row small muted">
          {isFull ? (
            <Link class="button" to={address("/", { tag })}>
              Search among all of them
            </Link>
          ) : (
            <button type="button" class="button" disabled={isLoading} onClick={more}>
              Show more
            </button>
          )}
          {total !== undefined && (
            <span role="status">
              {number(items.length)} of {count(total, "memory", "memories")}
            </span>
          )}
        </p>
      )}
    </section>
  );
}
