// What a search is narrowed to, as chips.

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { useNamespace } from "../../router";
import { htm, useAnswer } from "../../server";
import type { Query } from "./query";

interface Properties {
  query: Query;
  strategies: readonly models.Strategy[];
  set: (change: Partial<Query>) => void;
}

export const STRATEGY_NAMES: Record<models.Strategy, string> = {
  auto: "Auto",
  hybrid: "Hybrid",
  vector: "Meaning",
  fulltext: "Words",
};

export function Filters({ query, strategies, set }: Properties): JSX.Element {
  const lists = ["tags", "robots", "types"] as const;
  const nouns = { tags: "tag", robots: "robot", types: "type" } as const;
  return (
    <div class="row filters">
      <div class="row" role="group" aria-label="Strategy">
        {strategies.map((strategy) => (
          <button
            key={strategy}
            type="button"
            class="chip"
            aria-pressed={!query.isCompared && query.strategy === strategy}
            onClick={() => set({ strategy, isCompared: false })}
          >
            {STRATEGY_NAMES[strategy]}
          </button>
        ))}
        <button type="button" class="chip" aria-pressed={query.isCompared} onClick={() => set({ isCompared: !query.isCompared })}>
          Side by side
        </button>
      </div>
      <TimeField timeframe={query.timeframe} set={set} />
      {lists.map((list) => (
        <AddField key={list} noun={nouns[list]} list={list} onAdd={(name) => set({ [list]: [...new Set([...query[list], name])] })} />
      ))}
      {lists.flatMap((list) =>
        query[list].map((name) => (
          <Chosen key={`${list} ${name}`} text={`${nouns[list]}: ${name}`} remove={() => set({ [list]: query[list].filter((other) => other !== name) })} />
        )),
      )}
      {query.session && <Chosen text={`session: ${query.session}`} remove={() => set({ session: "" })} />}
    </div>
  );
}

function Chosen({ text, remove }: { text: string; remove: () => void }): JSX.Element {
  return (
    <span class="chip" aria-label={text}>
      {text}
      <button type="button" class="remove" aria-label={`Remove ${text}`} onClick={remove}>
        ×
      </button>
    </span>
  );
}

function TimeField({ timeframe, set }: { timeframe: string; set: Properties["set"] }): JSX.Element {
  const words = useId();
  return (
    <label>
      <span class="hidden-label">Timeframe</span>
      <input
        key={timeframe}
        class="input short"
        placeholder="Any time"
        list={words}
        defaultValue={timeframe}
        onChange={(event) => set({ timeframe: event.currentTarget.value.trim() })}
      />
      <datalist id={words}>
        <option value="today" />
        <option value="yesterday" />
        <option value="last week" />
        <option value="last month" />
        <option value="last 3 days" />
        <option value="auto">as the question says</option>
      </datalist>
    </label>
  );
}

// Tags and robots are proposed once somebody comes to the field; a type is any word.
function AddField({ noun, list, onAdd }: { noun: string; list: "tags" | "robots" | "types"; onAdd: (name: string) => void }): JSX.Element {
  const [text, setText] = useState("");
  const [isAsked, setAsked] = useState(false);
  const names = useId();
  const namespace = useNamespace();
  const proposed = useAnswer(
    async (signal) => {
      if (!isAsked) return [];
      if (list === "tags") return (await htm.tags.list({ namespace, limit: 1_000 }, { signal })).tags.map(({ tag }) => tag);
      if (list === "robots") return (await htm.robots.list({ namespace, limit: 100 }, { signal })).robots.map((robot) => robot.name);
      return [];
    },
    [isAsked, list, namespace],
  );
  const add = (name: string): void => {
    if (name.trim()) onAdd(name.trim());
    setText("");
  };
  return (
    <label>
      <span class="hidden-label">Add a {noun}</span>
      <input
        class="input short"
        placeholder={`+ ${noun}`}
        list={names}
        value={text}
        onFocus={() => setAsked(true)}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => add(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          add(event.currentTarget.value);
        }}
      />
      <datalist id={names}>
        {proposed.value?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}
