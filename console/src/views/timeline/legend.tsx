// The series of the chart, and what they have where the pointer is.

import type { JSX } from "preact";
import { count, number } from "../../components/basics";
import type { Counts } from "./ask";
import { Sample } from "./bars";
import { stepText, unitText } from "./labels";
import type { Series } from "./series";

interface Properties {
  counts: Counts;
  series: readonly Series[];
  /** The step below the pointer. */
  pointed: number | undefined;
  only: (name: string) => void;
}

export function Legend({ counts, series, pointed, only }: Properties): JSX.Element {
  const { steps, totals, by } = counts;
  const said = ({ values, sum }: Series): string => number(pointed === undefined ? sum : (values[pointed] ?? 0));
  return (
    <figcaption class="small legend">
      <p class="muted">
        {pointed === undefined
          ? `Each bar is ${unitText(steps)}. Drag over the chart to select a time.`
          : `${stepText(steps, pointed)}: ${count(totals[pointed] ?? 0, "memory", "memories")}`}
      </p>
      {by !== "time" && (
        <ul class="row">
          {series.map((one) => (
            <li key={one.style}>
              {one.only === undefined ? (
                <span class="row entry">
                  <Sample style={one.style} /> {one.name} <strong class="number">{said(one)}</strong>
                </span>
              ) : (
                <button type="button" class="chip entry" title={`Only ${one.name}`} onClick={() => only(one.only ?? "")}>
                  <Sample style={one.style} /> <span class="name">{one.name}</span> <strong class="number">{said(one)}</strong>
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </figcaption>
  );
}
