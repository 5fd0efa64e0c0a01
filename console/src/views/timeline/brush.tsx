// The ends of the selection, as two sliders below the chart: for the keyboard, and to drag.

import type { JSX } from "preact";
import type { Plot } from "./geometry";
import { momentOf } from "./labels";
import { startOf, type Steps } from "./steps";

interface Properties {
  plot: Plot;
  steps: Steps;
  from: number;
  until: number;
  move: (from: number, until: number) => void;
  done: () => void;
}

// The middle of a thumb is where the step begins.
const THUMB = 24;

export function Brush({ plot, steps, from, until, move, done }: Properties): JSX.Element {
  const { count } = steps;
  const box = { left: `${plot.left - THUMB / 2}px`, width: `${plot.right - plot.left + THUMB}px` };
  const text = (place: number): string => momentOf(startOf(steps, Math.round(place)));
  const shared = { type: "range", min: 0, max: count, step: 1, onChange: done, onBlur: done } as const;
  return (
    <div class="brush" style={box}>
      <span class="brush-end" aria-hidden="true">
        Start
      </span>
      <span class="brush-end second" aria-hidden="true">
        End
      </span>
      <input
        {...shared}
        aria-label="Start of the selection"
        aria-valuetext={text(from)}
        value={Math.round(from)}
        onInput={({ currentTarget }) => {
          const start = Math.min(Number(currentTarget.value), Math.max(0, Math.round(until) - 1));
          currentTarget.value = String(start);
          move(start, until);
        }}
      />
      <input
        {...shared}
        aria-label="End of the selection"
        aria-valuetext={text(until)}
        value={Math.round(until)}
        onInput={({ currentTarget }) => {
          const end = Math.max(Number(currentTarget.value), Math.min(count, Math.round(from) + 1));
          currentTarget.value = String(end);
          move(from, end);
        }}
      />
    </div>
  );
}
