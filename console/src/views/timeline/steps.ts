// The steps of the chart: years to minutes, in UTC.

import type { Range } from "./ranges";

export type Unit = "year" | "month" | "week" | "day" | "hour" | "minute";

/** Steps of equal kind that cover a range. */
export interface Steps {
  unit: Unit;
  /** How many units a step has. */
  every: number;
  /** The number of the first step. */
  first: number;
  count: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MOST = 110;

// 1 January 1970 was a Thursday, and weeks begin on Mondays.
const WEEK_SHIFT = 3;

const KINDS: readonly (readonly [Unit, number])[] = [
  ["minute", 1],
  ["minute", 2],
  ["minute", 5],
  ["minute", 10],
  ["minute", 30],
  ["hour", 1],
  ["hour", 3],
  ["hour", 6],
  ["day", 1],
  ["week", 1],
  ["month", 1],
  ["month", 3],
  ["year", 1],
  ["year", 5],
  ["year", 10],
  ["year", 50],
  ["year", 100],
];

/** The number of a unit, counted from a fixed one. */
export function numberOf(time: number, unit: Unit): number {
  const date = new Date(time);
  if (unit === "year") return date.getUTCFullYear();
  if (unit === "month") return date.getUTCFullYear() * 12 + date.getUTCMonth();
  if (unit === "week") return Math.floor((Math.floor(time / DAY) + WEEK_SHIFT) / 7);
  return Math.floor(time / (unit === "day" ? DAY : unit === "hour" ? HOUR : MINUTE));
}

/** When the unit of a number begins. */
function beginning(number: number, unit: Unit): number {
  if (unit === "year") return new Date(0).setUTCFullYear(number);
  if (unit === "month") return new Date(0).setUTCFullYear(Math.floor(number / 12), ((number % 12) + 12) % 12);
  if (unit === "week") return (number * 7 - WEEK_SHIFT) * DAY;
  return number * (unit === "day" ? DAY : unit === "hour" ? HOUR : MINUTE);
}

/** The finest steps of a range that are not too many to draw. `coarser`: coarser than these. */
export function stepsOf(range: Range, coarser?: Unit): Steps {
  const kinds = coarser ? KINDS.slice(KINDS.findLastIndex(([unit]) => unit === coarser) + 1) : KINDS;
  const all = (kinds.length > 0 ? kinds : KINDS.slice(-1)).map(([unit, every]) => covering(range, unit, every));
  const steps = all.find(({ count }) => count <= MOST) ?? all.at(-1);
  return steps ?? covering(range, "year", 100);
}

function covering({ from, until }: Range, unit: Unit, every: number): Steps {
  const first = Math.floor(numberOf(from, unit) / every);
  const last = Math.floor(numberOf(until - 1, unit) / every);
  return { unit, every, first, count: last - first + 1 };
}

/** When a step begins. */
export function startOf({ unit, every, first }: Steps, index: number): number {
  return beginning((first + index) * every, unit);
}

/** The step in which a time lies. */
export function indexOf({ unit, every, first }: Steps, time: number): number {
  return Math.floor(numberOf(time, unit) / every) - first;
}

/** Where a time lies, in steps from the start. */
export function placeOf(steps: Steps, time: number): number {
  const index = indexOf(steps, time);
  const [start, end] = [startOf(steps, index), startOf(steps, index + 1)];
  return Math.max(0, Math.min(steps.count, index + (time - start) / (end - start)));
}

/** The range from the start of one step to the start of another. */
export function rangeBetween(steps: Steps, from: number, until: number): Range {
  return { from: startOf(steps, from), until: startOf(steps, until) };
}
