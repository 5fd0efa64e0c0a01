// The memories with a tag or one below it.

import type { JSX } from "preact";
import { count, number } from "../../components/basics";
import { PagedList } from "../../components/paged-list";
import { Link, address } from "../../router";
import { htm, usePaged } from "../../server";
import { useHere } from "./here";

const PAGE = 20;
const MOST = 200;
const LETTERS = 280;

export function TagMemories({ tag, total }: { tag: string; total: number | undefined }): JSX.Element {
  const { namespace, version } = useHere();
  const list = usePaged(
    async (cursor: number | undefined, signal) => {
      const { nodes, next } = await htm.tags.memories(tag, { namespace, cursor, limit: PAGE }, { signal });
      return { items: nodes, next };
    },
    [tag, namespace, version],
  );
  const shown = total !== undefined && (
    <span role="status">
      {number(list.items.length)} of {count(total, "memory", "memories")}
    </span>
  );
  const end = (
    <>
      <Link class="button" to={address("/", { tag })}>
        Search among all of them
      </Link>
      {shown}
    </>
  );
  return (
    <section class="stack" aria-label="Memories" aria-busy={list.isLoading}>
      <h3>Memories, the newest first</h3>
      <PagedList list={list} none="No memory has this tag." shown={shown} most={{ items: MOST, end }}>
        {(memories) => (
          <ul class="tag-memories">
            {memories.map(({ node, content }) => (
              <li key={node}>
                <Link to={address(`/console/memories/${node}`)}>Memory {node}</Link>
                <p class="stored small">{content.length > LETTERS ? `${content.slice(0, LETTERS)}…` : content}</p>
              </li>
            ))}
          </ul>
        )}
      </PagedList>
    </section>
  );
}
