// How to search, and what the search is narrowed to.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { AddName, Chosen, ChosenNames, TimeWords, added, knownRobots, knownTags } from "../../components/filter-chips";
import type { Query, Setter } from "./query";

interface Properties {
  query: Query;
  strategies: readonly models.Strategy[];
  set: Setter;
}

// A timeframe that stands in the question.
const ASKED_TIME = { words: "auto", meaning: "as the question says" };

export const STRATEGY_NAMES: Record<models.Strategy, string> = {
  auto: "Auto",
  hybrid: "Hybrid",
  vector: "Meaning",
  fulltext: "Words",
};

export function Filters({ query, strategies, set }: Properties): JSX.Element {
  const { timeframe, tags, robots, types, session } = query;
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
      <div class="row" role="group" aria-label="Filters">
        <TimeWords
          words={timeframe}
          placeholder="Any time"
          also={ASKED_TIME}
          set={(timeframe) => set({ timeframe })}
        />
        <AddName noun="tag" known={knownTags} onAdd={(name) => set({ tags: added(tags, name) })} />
        <AddName noun="robot" known={knownRobots} onAdd={(name) => set({ robots: added(robots, name) })} />
        <AddName noun="type" onAdd={(name) => set({ types: added(types, name) })} />
        {timeframe && (
          <Chosen text={`time: ${timeframe === ASKED_TIME.words ? ASKED_TIME.meaning : timeframe}`} remove={() => set({ timeframe: "" })} />
        )}
        <ChosenNames noun="tag" names={tags} set={(tags) => set({ tags })} />
        <ChosenNames noun="robot" names={robots} set={(robots) => set({ robots })} />
        <ChosenNames noun="type" names={types} set={(types) => set({ types })} />
        {session && <Chosen text={`session: ${session}`} remove={() => set({ session: "" })} />}
      </div>
    </div>
  );
}
