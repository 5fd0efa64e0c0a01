// The memories over time as stacked bars, of which a part can be selected.

import type { JSX, TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../components/use-width";
import type { Counts } from "./ask";
import { Axes, Bars, Patterns, Pointed, Selected } from "./bars";
import { Brush } from "./brush";
import { plotOf, stepAt } from "./geometry";
import { rangeText } from "./labels";
import { Legend } from "./legend";
import { Numbers } from "./numbers";
import type { Range } from "./ranges";
import { seriesOf } from "./series";
import { placeOf, rangeBetween } from "./steps";

interface Properties {
  counts: Counts;
  range: Range;
  selected: Range | undefined;
  select: (range: Range | undefined, replace?: boolean) => void;
  only: (name: string) => void;
}

/** Places in the chart, in steps from its start. */
type Places = readonly [from: number, until: number];

export function Chart({ counts, range, selected, select, only }: Properties): JSX.Element {
  const { steps, totals } = counts;
  const [pointed, setPointed] = useState<number>();
  // What is being selected, until the pointer or the key is let go.
  const [draft, setDraft] = useState<Places>();
  const anchor = useRef<number | undefined>(undefined);
  const [element, width] = useWidth();
  const series = useMemo(() => seriesOf(counts), [counts]);
  const plot = plotOf(width, steps, series.length > 0 ? tops(series, steps.count) : totals);
  const places: Places | undefined = draft ?? (selected && [placeOf(steps, selected.from), placeOf(steps, selected.until)]);
  const [from, until] = places ?? [0, steps.count];
  const commit = (replace: boolean): void => {
    anchor.current = undefined;
    if (!draft) return;
    setDraft(undefined);
    const isAll = draft[0] <= 0 && draft[1] >= steps.count;
    const chosen = rangeBetween(steps, Math.round(draft[0]), Math.round(draft[1]));
    // A click on what is selected takes the selection back.
    const isSame = !replace && chosen.from === selected?.from && chosen.until === selected.until;
    select(isAll || isSame ? undefined : chosen, replace);
  };
  const stepOf = (event: TargetedPointerEvent<SVGSVGElement>): number =>
    stepAt(plot, steps.count, event.clientX - event.currentTarget.getBoundingClientRect().left);
  const pointer = {
    onPointerDown: (event: TargetedPointerEvent<SVGSVGElement>) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      anchor.current = stepOf(event);
      setDraft([anchor.current, anchor.current + 1]);
    },
    onPointerMove: (event: TargetedPointerEvent<SVGSVGElement>) => {
      const step = stepOf(event);
      setPointed(step);
      if (anchor.current !== undefined) setDraft([Math.min(anchor.current, step), Math.max(anchor.current, step) + 1]);
    },
    onPointerUp: () => commit(false),
    onPointerCancel: () => {
      anchor.current = undefined;
      setDraft(undefined);
    },
    onPointerLeave: () => setPointed(undefined),
  };
  const title = `Memories over time, ${rangeText(range)}`;
  return (
    <figure class="timeline-chart">
      <Patterns />
      <div ref={element}>
        <svg
          class="drawing"
          viewBox={`0 0 ${width} ${plot.height}`}
          width={width}
          height={plot.height}
          role="img"
          aria-label={`${title}. The numbers follow as a table.`}
          {...pointer}
        >
          <Axes plot={plot} steps={steps} />
          {pointed !== undefined && <Pointed plot={plot} step={pointed} />}
          <Bars plot={plot} series={series} count={steps.count} />
          {places && <Selected plot={plot} from={from} until={until} />}
        </svg>
        <Brush plot={plot} steps={steps} from={from} until={until} move={(...places) => setDraft(places)} done={() => commit(true)} />
      </div>
      <Legend counts={counts} series={series} pointed={pointed} only={only} />
      <Numbers title={title} counts={counts} series={series} />
    </figure>
  );
}

/** How high each bar is. With tags this is not the number of memories: one may count for several. */
function tops(series: readonly { values: readonly number[] }[], steps: number): number[] {
  return Array.from({ length: steps }, (_, step) => series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0));
}
