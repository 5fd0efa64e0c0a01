// The series of the map. One of them can be looked at alone.

import type { JSX } from "preact";
import { number } from "../../components/basics";
import { shapeOf } from "./marks";
import type { Query, Setter } from "./query";
import type { Series } from "./series";

export function Legend({ series, query, set }: { series: readonly Series[]; query: Query; set: Setter }): JSX.Element {
  return (
    <ul class="row" aria-label={query.by === "robot" ? "Robots" : "Topics"}>
      {series.map(({ name, style, points }) => (
        <li key={style}>
          <button
            type="button"
            class="chip"
            aria-pressed={query.only === name}
            onClick={() => set({ only: query.only === name ? undefined : name }, true)}
          >
            <svg class="sample" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <path class={`fill-${style}`} d={shapeOf(style, 5, 5)} />
            </svg>
            <span class="name">{name}</span> <strong class="number">{number(points.length)}</strong>
          </button>
        </li>
      ))}
    </ul>
  );
}
