// Lines over time, drawn as SVG, with the same numbers as a table.

import type { JSX, TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { number } from "./basics";
import { clock, zone } from "./line-chart/clock";
import { pathOf, scaleOf, type Plot } from "./line-chart/geometry";
import { Heads, TableBox } from "./table-box";
import { useWidth } from "./use-width";
import "./line-chart.css";

/** A line: a value for each time; null where it is not known. */
export interface Line {
  name: string;
  values: readonly (number | null)[];
}

interface Properties {
  /** What is shown, with its unit. */
  title: string;
  times: readonly number[];
  lines: readonly Line[];
}

const HEIGHT = 180;
// Lines are told apart by their dashes too.
const DASHES = [undefined, "7 3", "2 3", "9 3 2 3", "4 2", "1 4", "12 4"];

export function LineChart({ title, times, lines }: Properties): JSX.Element {
  const [pointed, setPointed] = useState<number>();
  const [element, width] = useWidth();
  const top = scaleOf(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const plot: Plot = {
    left: Math.max(44, 8 * number(top).length),
    right: Math.max(60, width - 8),
    top: 8,
    bottom: HEIGHT - 24,
    steps: times.length,
    max: top,
  };
  const point = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const step = Math.round(((x - plot.left) / (plot.right - plot.left)) * (times.length - 1));
    setPointed(Math.max(0, Math.min(times.length - 1, step)));
  };
  const facts = lines.map((line) => `${line.name}: ${said(latest(line))}`);
  return (
    <figure class="line-chart">
      <div ref={element}>
        <svg
          class="drawing"
          viewBox={`0 0 ${plot.right + 8} ${HEIGHT}`}
          height={HEIGHT}
          role="img"
          aria-label={`${title}. ${facts.join("; ")}. The numbers follow as a table.`}
          onPointerMove={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          <Axes plot={plot} times={times} />
          {pointed !== undefined && <PointedAt plot={plot} step={pointed} />}
          {lines.map((line, index) => (
            <path
              key={line.name}
              class={`line stroke-${(index % 7) + 1}`}
              stroke-dasharray={DASHES[index % 7]}
              stroke-linecap="round"
              d={pathOf(line.values, plot)}
            />
          ))}
        </svg>
      </div>
      <figcaption class="small">
        <ul class="row legend">
          {lines.map((line, index) => (
            <li key={line.name} class="row">
              <svg viewBox="0 0 28 8" height="8" aria-hidden="true">
                <path class={`line stroke-${(index % 7) + 1}`} stroke-dasharray={DASHES[index % 7]} d="M1 4H27" />
              </svg>
              <span>
                {line.name}:{" "}
                <strong class="number">{shown(pointed === undefined ? latest(line) : line.values[pointed])}</strong>
              </span>
            </li>
          ))}
          <li class="muted">
            {pointed === undefined ? "latest" : `at ${clock(times[pointed])}`}; times are in {zone(times.at(-1))}
          </li>
        </ul>
      </figcaption>
      <Numbers title={title} times={times} lines={lines} />
    </figure>
  );
}

function Axes({ plot, times }: { plot: Plot; times: readonly number[] }): JSX.Element {
  const { left, right, top, bottom, max } = plot;
  const marks = [0, max / 2, max];
  const steps = [0, Math.floor((times.length - 1) / 2), times.length - 1];
  return (
    <g aria-hidden="true">
      {marks.map((mark) => {
        const y = bottom - ((bottom - top) * mark) / max;
        return (
          <g key={mark}>
            <line class="grid" x1={left} x2={right} y1={y} y2={y} />
            <text x={left - 6} y={y + 4} text-anchor="end">
              {number(mark)}
            </text>
          </g>
        );
      })}
      {steps.map((step, index) => (
        <text
          key={step}
          x={left + ((right - left) * step) / Math.max(1, times.length - 1)}
          y={bottom + 18}
          text-anchor={["start", "middle", "end"][index]}
        >
          {clock(times[step])}
        </text>
      ))}
    </g>
  );
}

function PointedAt({ plot, step }: { plot: Plot; step: number }): JSX.Element {
  const x = plot.left + ((plot.right - plot.left) * step) / Math.max(1, plot.steps - 1);
  return <line class="pointed" x1={x} x2={x} y1={plot.top} y2={plot.bottom} />;
}

function Numbers({ title, times, lines }: Properties): JSX.Element {
  const known = times
    .map((time, step) => ({ time, step }))
    .filter(({ step }) => lines.some(({ values }) => typeof values[step] === "number"));
  return (
    <details class="small">
      <summary>The numbers as a table</summary>
      <TableBox label={title}>
        <caption class="hidden-label">{title}</caption>
        <Heads columns={[`Time (${zone(times.at(-1))})`, ...lines.map(({ name }) => ({ number: name }))]} />
        <tbody>
          {known.reverse().map(({ time, step }) => (
            <tr key={time}>
              <th scope="row">{clock(time)}</th>
              {lines.map(({ name, values }) => (
                <td key={name} class="number">
                  {shown(values[step])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </TableBox>
    </details>
  );
}

/** The last value that is known, if it is one of the last three: the step in progress has none yet. */
function latest({ values }: Line): number | undefined {
  return values.slice(-3).findLast((value) => value !== null) ?? undefined;
}

function shown(value: number | null | undefined): string {
  return typeof value === "number" ? number(Math.round(value)) : "–";
}

function said(value: number | null | undefined): string {
  return typeof value === "number" ? shown(value) : "not known yet";
}
