// What the timeline is narrowed to.

import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { AddName, Chosen } from "../../components/filter-chips";
import { useNamespace } from "../../router";
import { htm } from "../../server";
import { rangeText } from "./labels";
import { rangeOf } from "./ranges";
import type { Query, Setter } from "./query";

// A name that contains what was typed is proposed; more than these are of no help.
const PROPOSED = 50;

export function Filters({ query, set }: { query: Query; set: Setter }): JSX.Element {
  const namespace = useNamespace();
  const { robots, tags, session, timeframe } = query;
  const range = rangeOf(timeframe);
  const fitting = (names: readonly string[], text: string): string[] =>
    names.filter((name) => name.toLowerCase().includes(text.toLowerCase())).slice(0, PROPOSED);
  return (
    <div class="row" role="group" aria-label="Filters">
      <TimeField words={range ? "" : timeframe} set={set} />
      <AddName
        noun="robot"
        propose={async (text, signal) =>
          fitting((await htm.robots.list({ namespace, limit: 1_000 }, { signal })).robots.map(({ name }) => name), text)
        }
        onAdd={(name) => set({ robots: added(robots, name) })}
      />
      <AddName
        noun="tag"
        propose={async (text, signal) =>
          fitting((await htm.tags.list({ namespace, limit: 10_000 }, { signal })).tags.map(({ tag }) => tag), text)
        }
        onAdd={(name) => set({ tags: added(tags, name) })}
      />
      <AddName noun="session" propose={async () => []} onAdd={(session) => set({ session })} />
      {timeframe && (
        <Chosen text={`time: ${range ? rangeText(range) : timeframe}`} remove={() => set({ timeframe: "", selected: undefined })} />
      )}
      {robots.map((name) => (
        <Chosen key={`robot ${name}`} text={`robot: ${name}`} remove={() => set({ robots: without(robots, name) })} />
      ))}
      {tags.map((name) => (
        <Chosen key={`tag ${name}`} text={`tag: ${name}`} remove={() => set({ tags: without(tags, name) })} />
      ))}
      {session && <Chosen text={`session: ${session}`} remove={() => set({ session: "" })} />}
    </div>
  );
}

function TimeField({ words, set }: { words: string; set: Setter }): JSX.Element {
  const known = useId();
  return (
    <label>
      <span class="hidden-label">Time in words</span>
      <input
        key={words}
        class="input add-name time-words"
        placeholder="Time, as “last week”"
        list={known}
        defaultValue={words}
        autocomplete="off"
        onChange={(event) => set({ timeframe: event.currentTarget.value.trim(), selected: undefined })}
      />
      <datalist id={known}>
        {["today", "yesterday", "last 3 days", "this week", "last week", "this month", "last month", "this year"].map((words) => (
          <option key={words} value={words} />
        ))}
      </datalist>
    </label>
  );
}

export function added(names: readonly string[], name: string): string[] {
  return [...new Set([...names, name])];
}

function without(names: readonly string[], name: string): string[] {
  return names.filter((other) => other !== name);
}
