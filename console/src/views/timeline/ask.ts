// What the server is asked for the chart.

import type { models } from "htm-memory";
import { htm } from "../../server";
import type { Division } from "./query";
import { openRange, rangeOf, timeframeOf, within, type OpenRange, type Range } from "./ranges";
import { indexOf, stepsOf, type Steps, type Unit } from "./steps";

/** The number of memories of a name in a step of the chart. */
export interface Cell {
  index: number;
  name: string | null;
  memories: number;
}

export interface Counts {
  /** What the chart shows; none: there are no memories, and so no beginning and no end. */
  range: Range | undefined;
  /** The times of the memories: more than one for "yesterday or last Monday"; none: any time. */
  timeframe: OpenRange[];
  steps: Steps;
  cells: Cell[];
  by: Division;
  /** The number of memories of each step. */
  totals: number[];
  /** Whether there are too many robots or tags to divide by. */
  isUndivided: boolean;
}

const LIMIT = 10_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function countsOf(
  filter: models.FilterBody,
  step: Unit,
  by: Division,
  signal: AbortSignal,
): Promise<models.TimeCount[]> {
  return htm.recall.counts({ filter, step, by, limit: LIMIT }, { signal });
}

/** The ranges that words name. */
async function resolved(words: string, signal: AbortSignal): Promise<OpenRange[]> {
  if (!words) return [];
  const range = rangeOf(words);
  if (range) return [range];
  const { timeframe } = await htm.recall.timeline({ filter: { timeframe: words }, limit: 1 }, { signal });
  return timeframe.map(openRange);
}

/** When the first memory and the last are: to the day, or more exactly where the memories are close together. */
async function extent(filter: models.FilterBody, signal: AbortSignal): Promise<Range | undefined> {
  const looked = async (unit: Unit): Promise<Range | undefined> => {
    const counts = await countsOf(filter, unit, "time", signal);
    const [first, last] = [counts.at(0), counts.at(-1)];
    if (!first || !last) return undefined;
    return { from: Date.parse(first.start), until: afterStep(Date.parse(last.start), unit) };
  };
  const months = await looked("month");
  if (!months) return undefined;
  const width = months.until - months.from;
  if (width > 400 * DAY) return width < LIMIT * DAY ? looked("day") : months;
  const hours = (await looked("hour")) ?? months;
  if (hours.until - hours.from > 5 * DAY) return hours;
  const minutes = (await looked("minute")) ?? hours;
  const missing = Math.max(0, HOUR - (minutes.until - minutes.from));
  return { from: minutes.from - Math.floor(missing / 2), until: minutes.until + Math.ceil(missing / 2) };
}

function afterStep(start: number, unit: Unit): number {
  if (unit === "month") return new Date(start).setUTCMonth(new Date(start).getUTCMonth() + 1);
  return start + (unit === "day" ? DAY : unit === "hour" ? HOUR : 60_000);
}

/** Open ends become those of the memories. */
async function closed(filter: models.FilterBody, ranges: readonly OpenRange[], signal: AbortSignal): Promise<Range | undefined> {
  const froms = ranges.map(({ from }) => from ?? -Infinity);
  const untils = ranges.map(({ until }) => until ?? Infinity);
  const [from, until] = [Math.min(...froms, Infinity), Math.max(...untils, -Infinity)];
  const isClosed = ranges.length > 0 && from > -Infinity && until < Infinity;
  if (isClosed) return { from, until };
  const found = await extent({ ...filter, timeframe: timeframeOf(ranges) }, signal);
  if (!found) return undefined;
  return { from: Number.isFinite(from) ? from : found.from, until: Number.isFinite(until) ? until : found.until };
}

/** The counts of a chart. */
export async function ask(filter: models.FilterBody, words: string, by: Division, signal: AbortSignal): Promise<Counts> {
  const timeframe = await resolved(words, signal);
  const range = await closed(filter, timeframe, signal);
  const nothing = { unit: "day", every: 1, first: 0, count: 0 } as const;
  if (!range) return { range, timeframe, steps: nothing, cells: [], totals: [], by, isUndivided: false };
  const narrowed = { ...filter, timeframe: timeframeOf(within(timeframe, range)) };
  let steps = stepsOf(range);
  let rows = await countsOf(narrowed, steps.unit, by, signal);
  // The latest are missing from an answer that is full.
  while (rows.length >= LIMIT && steps.unit !== "year") {
    steps = stepsOf(range, steps.unit);
    rows = await countsOf(narrowed, steps.unit, by, signal);
  }
  const isUndivided = rows.length >= LIMIT;
  if (isUndivided) rows = await countsOf(narrowed, steps.unit, "time", signal);
  const cells = cellsOf(rows, steps);
  // Their sum is not that of the memories: some have several tags, and some none.
  const isByTag = by === "tag" && !isUndivided;
  const all = isByTag ? cellsOf(await countsOf(narrowed, steps.unit, "time", signal), steps) : cells;
  return { range, timeframe, steps, cells, totals: sums(all, steps.count), by: isUndivided ? "time" : by, isUndivided };
}

function cellsOf(rows: readonly models.TimeCount[], steps: Steps): Cell[] {
  return rows.map(({ start, name, memories }) => ({ index: indexOf(steps, Date.parse(start)), name: name ?? null, memories }));
}

function sums(cells: readonly Cell[], steps: number): number[] {
  const totals = new Array<number>(steps).fill(0);
  for (const { index, memories } of cells) totals[index] = (totals[index] ?? 0) + memories;
  return totals;
}

/** The number of memories of a filter. */
export async function total(filter: models.FilterBody, signal: AbortSignal): Promise<number> {
  const years = await countsOf(filter, "year", "time", signal);
  return years.reduce((sum, { memories }) => sum + memories, 0);
}
