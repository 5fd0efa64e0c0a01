// What the timeline is narrowed to.

import type { JSX } from "preact";
import { AddName, Chosen, ChosenNames, TimeWords, added, knownRobots, knownTags } from "../../components/filter-chips";
import { rangeText } from "./labels";
import { rangeOf } from "./ranges";
import type { Query, Setter } from "./query";

export function Filters({ query, set }: { query: Query; set: Setter }): JSX.Element {
  const { robots, tags, session, timeframe } = query;
  const range = rangeOf(timeframe);
  const setTime = (words: string): void => set({ timeframe: words, selected: undefined });
  return (
    <div class="row" role="group" aria-label="Filters">
      <TimeWords words={range ? "" : timeframe} placeholder="Time, as “last week”" set={setTime} />
      <AddName noun="robot" known={knownRobots} onAdd={(name) => set({ robots: added(robots, name) })} />
      <AddName noun="tag" known={knownTags} onAdd={(name) => set({ tags: added(tags, name) })} />
      <AddName noun="session" onAdd={(session) => set({ session })} />
      {timeframe && <Chosen text={`time: ${range ? rangeText(range) : timeframe}`} remove={() => setTime("")} />}
      <ChosenNames noun="robot" names={robots} set={(robots) => set({ robots })} />
      <ChosenNames noun="tag" names={tags} set={(tags) => set({ tags })} />
      {session && <Chosen text={`session: ${session}`} remove={() => set({ session: "" })} />}
    </div>
  );
}
