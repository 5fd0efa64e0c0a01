// The parts of the chart's drawing.

import type { JSX } from "preact";
import { xOf, yOf, type Plot } from "./geometry";
import { marksOf } from "./labels";
import type { Series } from "./series";
import type { Steps } from "./steps";

// A label needs about so many pixels.
const LABEL_WIDTH = 76;

export function Axes({ plot, steps }: { plot: Plot; steps: Steps }): JSX.Element {
  const { left, right, bottom, max } = plot;
  const marks = marksOf(steps, Math.max(2, Math.floor((right - left) / LABEL_WIDTH)));
  return (
    <g>
      {[0, max / 2, max].map((value) => (
        <g key={value}>
          <line class="grid" x1={left} x2={right} y1={yOf(plot, value)} y2={yOf(plot, value)} />
          <text x={left - 8} y={yOf(plot, value) + 4} text-anchor="end">
            {compact.format(value)}
          </text>
        </g>
      ))}
      {marks.map(({ index, text, above }) => {
        const x = xOf(plot, index);
        // What would be cut at the right ends at its mark.
        const anchor = right - x < LABEL_WIDTH / 2 ? "end" : "start";
        return (
          <g key={index}>
            <line class="tick" x1={x} x2={x} y1={bottom} y2={bottom + 5} />
            <text x={x} y={bottom + 19} text-anchor={anchor}>
              {text}
            </text>
            {above && (
              <text class="above" x={x} y={bottom + 35} text-anchor={anchor}>
                {above}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** The bars: for each series, a shape of all its parts. */
export function Bars({ plot, series, count }: { plot: Plot; series: readonly Series[]; count: number }): JSX.Element {
  const gap = plot.step > 4 ? 1 : 0;
  const heights = new Array<number>(count).fill(0);
  return (
    <g>
      {series.map(({ name, style, values }) => {
        const path = values.map((value, index) => {
          if (value === 0) return "";
          const base = heights[index] ?? 0;
          heights[index] = base + value;
          const [x, y, bottom] = [xOf(plot, index) + gap / 2, yOf(plot, base + value), yOf(plot, base)];
          // A single memory among thousands is seen too.
          const height = Math.max(base === 0 ? 1.5 : 0.5, bottom - y);
          return `M${x.toFixed(2)} ${(bottom - height).toFixed(2)}h${(plot.step - gap).toFixed(2)}v${height.toFixed(2)}h${(gap - plot.step).toFixed(2)}z`;
        });
        const d = path.join("");
        return (
          <g key={`${style} ${name}`}>
            <path class={`fill-${style}`} d={d} />
            {style > 1 && <path class="pattern" fill={`url(#timeline-${style})`} d={d} />}
          </g>
        );
      })}
    </g>
  );
}

// The series are told apart by their patterns too.
const PATTERNS: readonly (readonly [number, string])[] = [
  [2, "M-1 1L1 -1M0 6L6 0M5 7L7 5"],
  [3, "M0 3H6"],
  [4, "M-1 5L1 7M0 0L6 6M5 -1L7 1"],
  [5, "M3 0V6"],
  [6, "M0 3H6M3 0V6"],
  [7, "M2 2H4V4H2Z"],
];

export function Patterns(): JSX.Element {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        {PATTERNS.map(([style, d]) => (
          <pattern key={style} id={`timeline-${style}`} width="6" height="6" patternUnits="userSpaceOnUse">
            <path class="pattern-line" d={d} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}

/** A sample of a series. */
export function Sample({ style }: { style: number }): JSX.Element {
  return (
    <svg class="sample" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <rect class={`fill-${style}`} width="14" height="14" rx="2" />
      {style > 1 && <rect class="pattern" fill={`url(#timeline-${style})`} width="14" height="14" rx="2" />}
    </svg>
  );
}

/** The step below the pointer. */
export function Pointed({ plot, step }: { plot: Plot; step: number }): JSX.Element {
  return <rect class="pointed" x={xOf(plot, step)} y={plot.top} width={plot.step} height={plot.bottom - plot.top} />;
}

/** What is selected: the rest is dimmed. */
export function Selected({ plot, from, until }: { plot: Plot; from: number; until: number }): JSX.Element {
  const { left, right, top, bottom } = plot;
  const [start, end] = [xOf(plot, from), xOf(plot, until)];
  return (
    <g>
      <rect class="dimmed" x={left} y={top} width={Math.max(0, start - left)} height={bottom - top} />
      <rect class="dimmed" x={end} y={top} width={Math.max(0, right - end)} height={bottom - top} />
      <rect class="selected" x={start} y={top} width={Math.max(1, end - start)} height={bottom - top} />
    </g>
  );
}
