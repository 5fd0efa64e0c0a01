// What part of the time is shown: to zoom, to move, and the two ends as fields.

import type { JSX, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { isNarrowest, moved, rangeOf, scaled, textOf, type Range } from "./ranges";
import type { Query, Setter } from "./query";

interface Properties {
  query: Query;
  /** What the chart shows. */
  range: Range;
  set: Setter;
}

export function RangeBar({ query, range: shown, set }: Properties): JSX.Element {
  const { selected, timeframe } = query;
  // A second click goes on from the first, though what that asked for may not be shown yet.
  const range = rangeOf(timeframe) ?? shown;
  // A button that has nothing to do keeps its place and the focus.
  const isClosest = !selected && isNarrowest(range);
  const show = (range: Range): void => set({ timeframe: textOf(range), selected: undefined });
  return (
    <div class="range-bar">
      <div class="row" role="group" aria-label="Move and zoom">
        <button type="button" class="button" onClick={() => show(moved(range, -0.5))}>
          <span aria-hidden="true">←</span> Earlier
        </button>
        <button type="button" class="button" onClick={() => show(moved(range, 0.5))}>
          Later <span aria-hidden="true">→</span>
        </button>
        <button
          type="button"
          class="button"
          aria-disabled={isClosest}
          onClick={() => isClosest || show(selected ?? scaled(range, 0.5))}
        >
          {selected ? "Zoom to selection" : "Zoom in"}
        </button>
        <button type="button" class="button" onClick={() => show(scaled(range, 2))}>
          Zoom out
        </button>
        <button type="button" class="button" aria-disabled={!selected} onClick={() => set({ selected: undefined })}>
          Clear selection
        </button>
        <button type="button" class="button" aria-disabled={!timeframe} onClick={() => set({ timeframe: "", selected: undefined })}>
          All time
        </button>
      </div>
      <Ends key={textOf(selected ?? range)} range={selected ?? range} within={range} set={set} />
    </div>
  );
}

/** The ends of the range, to the minute. */
function Ends({ range, within, set }: { range: Range; within: Range; set: Setter }): JSX.Element {
  const [isWrong, setIsWrong] = useState(false);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [from, until] = [fields.get("from"), fields.get("until")].map((text) => Date.parse(`${String(text)}Z`));
    if (from === undefined || until === undefined || !(from < until)) {
      setIsWrong(true);
      return;
    }
    const isPart = from >= within.from && until <= within.until;
    set(isPart ? { selected: { from, until } } : { timeframe: textOf({ from, until }), selected: undefined });
  };
  const field = (name: string, label: string, time: number): JSX.Element => (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        type="datetime-local"
        name={name}
        required
        max="9998-12-31T23:59"
        defaultValue={new Date(time).toISOString().slice(0, 16)}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? "range-wrong" : undefined}
      />
    </label>
  );
  return (
    <form class="row ends" aria-label="From and until" onSubmit={submit}>
      {field("from", "From (UTC)", range.from)}
      {field("until", "Until (UTC)", range.until)}
      <button type="submit" class="button">
        Select
      </button>
      {isWrong && (
        <p id="range-wrong" class="small state-bad" role="alert">
          The start must be before the end.
        </p>
      )}
    </form>
  );
}
