// The timeline: how many memories are from which time, and which.

import type { JSX } from "preact";
import { Awaited, Empty } from "../components/basics";
import { added } from "../components/filter-chips";
import { address, go, queryNow, useNamespace, usePlace } from "../router";
import { useAnswer } from "../server";
import { ask, type Counts } from "./timeline/ask";
import { Chart } from "./timeline/chart";
import { Filters } from "./timeline/filters";
import { List } from "./timeline/list";
import { changed, filterOf, isNarrowed, read, written, type Division, type Query, type Setter } from "./timeline/query";
import { RangeBar } from "./timeline/range-bar";
import "./timeline/timeline.css";

const PATH = "/console/timeline";

const DIVISIONS: readonly (readonly [Division, string])[] = [
  ["robot", "By robot"],
  ["tag", "By tag"],
  ["time", "Together"],
];

export function Timeline(): JSX.Element {
  const query = read(usePlace().query);
  const namespace = useNamespace();
  const filter = filterOf(query, namespace);
  const set: Setter = (change, replace = false) =>
    go(address(PATH, written(changed(read(queryNow()), change))), { replace });
  const { timeframe, by } = query;
  const counts = useAnswer((signal) => ask(filter, timeframe, by, signal), [JSON.stringify([filter, timeframe, by])]);
  return (
    <div class="stack timeline">
      <div class="page-head">
        <h1>Timeline</h1>
        <div class="row" role="group" aria-label="Divide the bars">
          {DIVISIONS.map(([division, name]) => (
            <button key={division} type="button" class="chip" aria-pressed={by === division} onClick={() => set({ by: division }, true)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <Filters query={query} set={set} />
      <div class="stack" aria-busy={counts.isLoading}>
        <Awaited answer={counts}>{(counts) => <Shown counts={counts} query={query} filter={filter} set={set} />}</Awaited>
      </div>
    </div>
  );
}

interface ShownProperties {
  counts: Counts;
  query: Query;
  filter: ReturnType<typeof filterOf>;
  set: Setter;
}

function Shown({ counts, query, filter, set }: ShownProperties): JSX.Element {
  const { range, timeframe, isUndivided } = counts;
  const only = (name: string): void => set(counts.by === "robot" ? { robots: [name] } : { tags: added(query.tags, name) });
  if (!range) return <Nothing query={query} set={set} />;
  return (
    <>
      <section class="card stack" aria-label="Memories over time">
        {isUndivided && <p class="notice warn small">There are too many {query.by}s to divide by. A filter or a shorter time helps.</p>}
        {counts.by === "tag" && (
          <p class="small muted">By the first part of each tag. Memories without tags are in no bar; one with several counts for each.</p>
        )}
        <RangeBar query={query} range={range} set={set} />
        <Chart counts={counts} range={range} selected={query.selected} select={(selected, replace) => set({ selected }, replace)} only={only} />
      </section>
      <List query={query} filter={filter} timeframe={timeframe} range={query.selected ?? range} set={set} />
    </>
  );
}

function Nothing({ query, set }: { query: Query; set: Setter }): JSX.Element {
  const clear = (): void => set({ timeframe: "", selected: undefined, robots: [], tags: [], session: "" });
  if (isNarrowed(query) || query.timeframe) {
    return (
      <Empty>
        <p>No memory passes the filters.</p>
        <p>
          <button type="button" class="button" onClick={clear}>
            Remove all filters
          </button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty>
      <p>No memories are in this namespace yet. Choose another one above, or let an agent remember something.</p>
      <p>
        To add one yourself: <code>htm remember "The parcel search moved."</code>
      </p>
    </Empty>
  );
}
