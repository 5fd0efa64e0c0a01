// The map: memories in two dimensions, near to each other if their meanings are.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Awaited, Empty, count, number } from "../components/basics";
import { AddName, Chosen, ChosenNames, TimeWords, added, knownRobots, knownTags } from "../components/filter-chips";
import { address, go, queryNow, useNamespace, usePlace } from "../router";
import { htm, useAnswer } from "../server";
import { Legend } from "./map/legend";
import { List } from "./map/list";
import { Picture } from "./map/picture";
import { changed, chosenOf, filterOf, isNarrowed, read, sampleOf, written, type Division, type Query, type Setter } from "./map/query";
import { seriesOf } from "./map/series";
import "./map/map.css";

const PATH = "/console/map";
const SAMPLE = 2_000;

const DIVISIONS: readonly (readonly [Division, string])[] = [
  ["topic", "By topic"],
  ["robot", "By robot"],
];

export function Map(): JSX.Element {
  const query = read(usePlace().query);
  const set: Setter = (change, replace = false) =>
    go(address(PATH, written(changed(read(queryNow()), change))), { replace });
  const body = { filter: filterOf(query, useNamespace()), limit: SAMPLE };
  const answer = useAnswer((signal) => htm.recall.map(body, { signal }), [JSON.stringify(body)]);
  return (
    <div class="stack memory-map">
      <div class="page-head">
        <h1>Map</h1>
        <div class="row" role="group" aria-label="Colour the memories">
          {DIVISIONS.map(([division, name]) => (
            <button
              key={division}
              type="button"
              class="chip"
              aria-pressed={query.by === division}
              onClick={() => set({ by: division, only: undefined }, true)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <Filters query={query} set={set} />
      <div class="stack" aria-busy={answer.isLoading}>
        <Awaited answer={answer}>{(map) => <Shown map={map} query={query} set={set} />}</Awaited>
      </div>
    </div>
  );
}

function Filters({ query, set }: { query: Query; set: Setter }): JSX.Element {
  const { timeframe, robots, tags } = query;
  return (
    <div class="row" role="group" aria-label="Filters">
      <TimeWords words={timeframe} placeholder="Time, as “last week”" set={(timeframe) => set({ timeframe })} />
      <AddName noun="robot" known={knownRobots} onAdd={(name) => set({ robots: added(robots, name) })} />
      <AddName noun="tag" known={knownTags} onAdd={(name) => set({ tags: added(tags, name) })} />
      {timeframe && <Chosen text={`time: ${timeframe}`} remove={() => set({ timeframe: "" })} />}
      <ChosenNames noun="robot" names={robots} set={(robots) => set({ robots })} />
      <ChosenNames noun="tag" names={tags} set={(tags) => set({ tags })} />
    </div>
  );
}

function Shown({ map, query: asked, set }: { map: models.MemoryMap; query: Query; set: Setter }): JSX.Element {
  if (map.points.length === 0) return <Nothing map={map} query={asked} set={set} />;
  const series = seriesOf(map.points, asked.by);
  const query = { ...asked, only: series.find(({ name }) => name === asked.only)?.name };
  const chosen = chosenOf(series, query);
  const sample = sampleOf(map.points);
  return (
    <>
      {query.lasso.length > 0 && query.sample !== sample && (
        <p class="notice warn small">The map has changed since this selection was drawn: other memories may be in it now.</p>
      )}
      <section class="card stack" aria-label="Map of the memories">
        <p class="small muted">{about(map)}</p>
        <Picture series={series} query={query} choose={(lasso) => set({ lasso, sample })} />
        <Legend series={series} query={query} set={set} />
      </section>
      <List points={chosen} query={query} set={set} />
    </>
  );
}

/** What is shown, and how much of the truth it is. */
function about({ points, memories, embedded, model, variance_x, variance_y }: models.MemoryMap): string {
  const shown =
    points.length < embedded
      ? `A sample of ${number(points.length)} of ${count(embedded, "memory", "memories")}`
      : count(embedded, "memory", "memories");
  const meaning =
    points.length < 3
      ? ""
      : ` Memories that are near to each other are of like meaning; two dimensions show ${Math.round((variance_x + variance_y) * 100)} % of what tells them apart.`;
  const without = memories - embedded;
  const rest = without > 0 ? ` ${count(without, "memory has", "memories have")} no vector yet and cannot be here.` : "";
  return `${shown}, by the vectors of ${model}.${meaning}${rest}`;
}

function Nothing({ map, query, set }: { map: models.MemoryMap; query: Query; set: Setter }): JSX.Element {
  if (map.memories > 0) {
    return (
      <Empty>
        <p>
          {map.model === null
            ? "There is no active embedding model, so memories have no vectors to place them by."
            : `${count(map.memories, "memory", "memories")} wait for their vectors. A worker makes them: “htm up” and “embed-worker” run one.`}
        </p>
      </Empty>
    );
  }
  return (
    <Empty>
      {isNarrowed(query) ? (
        <>
          <p>No memory passes the filters.</p>
          <p>
            <button type="button" class="button" onClick={() => set({ timeframe: "", robots: [], tags: [] })}>
              Remove all filters
            </button>
          </p>
        </>
      ) : (
        <p>No memories are in this namespace yet. Choose another one above, or let an agent remember something.</p>
      )}
    </Empty>
  );
}
