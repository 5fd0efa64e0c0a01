// A memory of the list.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { added } from "../../components/filter-chips";
import { Link, address } from "../../router";
import { clockOf } from "./labels";
import type { Query, Setter } from "./query";

const SHOWN = 320;
// What is cut is worth a click.
const WORTH = 80;

export function Entry({ memory, query, set }: { memory: models.TimelineEntry; query: Query; set: Setter }): JSX.Element {
  const { id, speaker, robot, session, tags, created_at, content } = memory;
  return (
    <li class="card entry">
      <div class="row small">
        <time class="number" dateTime={created_at}>
          {clockOf(Date.parse(created_at))}
        </time>
        <Link class="memory-link" to={address(`/console/memories/${id}`)}>
          Memory {id}
        </Link>
        <span class="muted who">
          {speaker && <bdi>{speaker} · </bdi>}
          <bdi>{robot}</bdi>
        </span>
        {session && query.session !== session && (
          <button type="button" class="chip" title="Only this session" onClick={() => set({ session })}>
            session: {session}
          </button>
        )}
      </div>
      <Text text={content} id={id} />
      {tags.length > 0 && (
        <div class="row">
          {tags.map((tag) => (
            <button key={tag} type="button" class="chip" title={`Only memories with ${tag}`} onClick={() => set({ tags: added(query.tags, tag) })}>
              {tag}
            </button>
          ))}
        </div>
      )}
    </li>
  );
}

function Text({ text, id }: { text: string; id: number }): JSX.Element {
  const [isWhole, setIsWhole] = useState(false);
  if (text.length <= SHOWN + WORTH) return <p class="stored passage">{text}</p>;
  // Not within a character of two halves, as an emoji is.
  const cut = text.slice(0, SHOWN).replace(/[\uD800-\uDBFF]$/, "");
  return (
    <div>
      <p class="stored passage">{isWhole ? text : `${cut}…`}</p>
      <button
        type="button"
        class="button quiet small more"
        aria-expanded={isWhole}
        aria-label={`${isWhole ? "less" : "more"} of memory ${id}`}
        onClick={() => setIsWhole(!isWhole)}
      >
        {isWhole ? "less" : "more"}
      </button>
    </div>
  );
}
