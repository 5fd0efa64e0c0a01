// The list of robots and groups, with how full their working memories are.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Awaited, Bar, Empty, Time, count, number } from "../../components/basics";
import { useFollowed } from "../../components/followed";
import { Link, go, useNamespace, usePlace } from "../../router";
import type { Answer } from "../../server";
import { MOST, SORTS, found, type Mind, type Minds, type Sort } from "./minds";
import { here, toMind, type Chosen } from "./places";

const REST_MS = 200;
const SHOWN = 100;

const SORT_NAMES: Record<Sort, string> = { seen: "last seen", full: "fullest", name: "name" };

interface Properties {
  answer: Answer<Minds>;
  chosen: Chosen | undefined;
  find: string;
}

export function MindList({ answer, chosen, find }: Properties): JSX.Element {
  const { query } = usePlace();
  const sort = SORTS.find((sort) => sort === query.get("sort")) ?? "seen";
  return (
    <section class="card stack mind-list" aria-label="Robots and groups">
      <div class="row mind-tools">
        <FindField find={find} />
        <label class="field">
          <span>Sort by</span>
          <select class="input" value={sort} onChange={(event) => go(here({ sort: sortOf(event.currentTarget.value) }), { replace: true })}>
            {SORTS.map((sort) => (
              <option key={sort} value={sort}>
                {SORT_NAMES[sort]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Awaited answer={answer} isPolled>{(minds) => <Lists minds={minds} find={find} sort={sort} chosen={chosen} />}</Awaited>
    </section>
  );
}

function sortOf(value: string): string | null {
  return value === "seen" ? null : value;
}

function FindField({ find }: { find: string }): JSX.Element {
  const { typed, type } = useFollowed(find, (find) => go(here({ find }), { replace: true }), { restMs: REST_MS });
  return (
    <label class="field">
      <span>Find a robot or a group</span>
      <input
        class="input"
        type="search"
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </label>
  );
}

function Lists({ minds, find, sort, chosen }: { minds: Minds; find: string; sort: Sort; chosen: Chosen | undefined }): JSX.Element {
  const namespace = useNamespace();
  const [robots, groups] = [found(minds.robots, find, sort), found(minds.groups, find, sort)];
  if (minds.robots.length + minds.groups.length === 0) {
    return (
      <Empty>
        <p>No robot has remembered or recalled anything {namespace ? <>in {namespace}</> : "here"} yet.</p>
        <p class="small">Choose another namespace above, or let an agent use HTM.</p>
      </Empty>
    );
  }
  return (
    <>
      <p class="hidden-label" role="status">
        {find && `${count(robots.length, "robot")} and ${count(groups.length, "group")} found`}
      </p>
      <Part title="Groups" minds={groups} chosen={chosen} />
      <Part
        title="Robots"
        minds={robots}
        chosen={chosen}
        cut={minds.isCut && (find ? `Only the first ${number(MOST)} by name are searched.` : "The first by name. Search to see more.")}
      />
      {robots.length + groups.length === 0 && <p class="small muted">No robot and no group has this in its name.</p>}
    </>
  );
}

interface PartProperties {
  title: string;
  minds: readonly Mind[];
  chosen: Chosen | undefined;
  /** Said if these are not all. */
  cut?: string | false;
}

function Part({ title, minds, chosen, cut }: PartProperties): JSX.Element | null {
  const [shown, setShown] = useState(SHOWN);
  if (minds.length === 0) return null;
  return (
    <div class="stack close">
      <h2>
        {title} <span class="muted number">{number(minds.length)}</span>
      </h2>
      {cut && <p class="small muted">{cut}</p>}
      <ul class="stack close">
        {minds.slice(0, shown).map((mind) => (
          <Row key={mind.name} mind={mind} isChosen={chosen?.kind === mind.kind && chosen.name === mind.name} />
        ))}
      </ul>
      {minds.length > shown && (
        <p>
          <button type="button" class="button" onClick={() => setShown(shown + SHOWN)}>
            Show more {title.toLowerCase()}
          </button>
        </p>
      )}
    </div>
  );
}

function Row({ mind, isChosen }: { mind: Mind; isChosen: boolean }): JSX.Element {
  const { name, memories, tokens, maxTokens, seenAt, members, isShutDown } = mind;
  return (
    <li>
      <Link class="mind-row" to={toMind(mind)} aria-current={isChosen ? "true" : undefined}>
        <strong class="stored clamp one">{name}</strong>
        {maxTokens !== undefined && (
          <Bar
            label={`${number(tokens)} of ${number(maxTokens)} tokens`}
            whole={maxTokens}
            parts={[{ name: "used", value: tokens, series: tokens > maxTokens ? 7 : 1 }]}
          />
        )}
        <span class="row small muted">
          <span>{memories === 0 ? "empty" : count(memories, "memory", "memories")}</span>
          {memories > 0 && <span>{maxTokens === undefined ? count(tokens, "token") : `${percent(tokens / maxTokens)} full`}</span>}
          {members && !isShutDown && <span>{`${members.there} of ${count(members.all, "member")} there`}</span>}
          <span>{isShutDown ? "shut down" : <Seen at={seenAt} />}</span>
        </span>
      </Link>
    </li>
  );
}

function Seen({ at }: { at: number | undefined }): JSX.Element {
  if (at === undefined) return <>never seen</>;
  return (
    <>
      seen <Time at={new Date(at).toISOString()} />
    </>
  );
}

/** A share in per cent. Little is not nothing, and not quite all is not all. */
export function percent(share: number): string {
  if (share > 0 && share < 0.01) return "under 1 %";
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : Math.round(100 * share)} %`;
}
