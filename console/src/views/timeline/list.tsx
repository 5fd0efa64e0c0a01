// The memories of the range, the latest first, by days.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Awaited, Empty, ShowMore, count, number } from "../../components/basics";
import { htm, useAnswer } from "../../server";
import { total } from "./ask";
import { Entry } from "./entry";
import { longDay, momentOf, rangeText } from "./labels";
import { MOST, PAGE, isNarrowed, type Query, type Setter } from "./query";
import { timeframeOf, within, type OpenRange, type Range } from "./ranges";

interface Properties {
  query: Query;
  filter: models.FilterBody;
  /** The times of the memories. */
  timeframe: readonly OpenRange[];
  /** What is looked at: what is selected, or all that the chart shows. */
  range: Range;
  set: Setter;
}

export function List({ query, filter, timeframe, range, set }: Properties): JSX.Element {
  const { before, limit } = query;
  const times = within(timeframe, range);
  const all = { ...filter, timeframe: timeframeOf(times) };
  const shown = within(timeframe, { from: range.from, until: Math.min(range.until, before ?? Infinity) });
  const body = { filter: { ...filter, timeframe: timeframeOf(shown) }, limit };
  const answer = useAnswer(
    async (signal) => (shown.length > 0 ? (await htm.recall.timeline(body, { signal })).entries.reverse() : []),
    [JSON.stringify(body)],
  );
  // With its range: the former sum is not said of another range while a new one is awaited.
  const sum = useAnswer(
    async (signal) => ({ memories: times.length > 0 ? await total(all, signal) : 0, range }),
    [JSON.stringify([all, range])],
  );
  return (
    <section class="stack" aria-labelledby="timeline-list" aria-busy={answer.isLoading}>
      <div class="list-head">
        <h2 id="timeline-list" tabIndex={-1}>{query.selected ? "Memories of the selection" : "Memories"}</h2>
        <p class="small muted" role="status">
          {sum.value && `${count(sum.value.memories, "memory", "memories")}, ${rangeText(sum.value.range)} (UTC), the latest first`}
        </p>
      </div>
      {before !== undefined && (
        <p class="notice row">
          <span>These are from before {momentOf(before)}.</span>
          <button type="button" class="button" onClick={() => set({ before: undefined, limit: PAGE })}>
            Back to the latest
          </button>
        </p>
      )}
      <Awaited answer={answer}>
        {(memories) =>
          memories.length === 0 ? (
            <Nothing query={query} set={set} />
          ) : (
            <>
              <Days memories={memories} query={query} set={set} />
              {before === undefined && sum.value && !sum.isLoading && (
                <p class="small muted row list-end">
                  {number(memories.length)} of {count(sum.value.memories, "memory", "memories")} are shown.
                </p>
              )}
              {(before === undefined ? memories.length < (sum.value?.memories ?? 0) : memories.length >= limit) && (
                <More memories={memories} query={query} set={set} isLoading={answer.isLoading} />
              )}
            </>
          )
        }
      </Awaited>
    </section>
  );
}

function Nothing({ query, set }: { query: Query; set: Setter }): JSX.Element {
  return (
    <Empty>
      <p>No memory is from this time{isNarrowed(query) && " and passes the filters"}.</p>
      <p>
        <button type="button" class="button" onClick={() => set({ timeframe: "", selected: undefined })}>
          Show all time
        </button>
      </p>
    </Empty>
  );
}

function Days({ memories, query, set }: { memories: readonly models.TimelineEntry[]; query: Query; set: Setter }): JSX.Element {
  const days = new Map<string, models.TimelineEntry[]>();
  for (const memory of memories) {
    const day = longDay(Date.parse(memory.created_at));
    days.set(day, [...(days.get(day) ?? []), memory]);
  }
  return (
    <>
      {[...days].map(([day, memories]) => (
        <section key={day} class="stack close" aria-label={day}>
          <h3 class="day">{day}</h3>
          <ol class="stack close">
            {memories.map((memory) => (
              <Entry key={memory.id} memory={memory} query={query} set={set} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

interface MoreProperties {
  memories: readonly models.TimelineEntry[];
  query: Query;
  set: Setter;
  isLoading: boolean;
}

/** More on this page, or another page once it is full. */
function More({ memories, query, set, isLoading }: MoreProperties): JSX.Element {
  if (query.limit < MOST) {
    return <ShowMore isBusy={isLoading} act={() => set({ limit: Math.min(MOST, query.limit + PAGE) }, true)} />;
  }
  // The last memory again, and others of the same instant, rather than none of them.
  const before = Date.parse(memories.at(-1)?.created_at ?? "") + 1;
  const first = Date.parse(memories.at(0)?.created_at ?? "");
  if (before > first) {
    return <p class="notice">More memories are from this very moment than are shown at once. Add a filter to see the others.</p>;
  }
  return (
    <p class="row list-end">
      <button
        type="button"
        class="button"
        disabled={isLoading}
        onClick={() => {
          set({ before, limit: PAGE });
          document.getElementById("timeline-list")?.focus();
        }}
      >
        Show earlier ones
      </button>
    </p>
  );
}
