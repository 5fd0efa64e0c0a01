// Times as people read them, in UTC.

import type { Range } from "./ranges";
import { numberOf, startOf, type Steps, type Unit } from "./steps";

function format(options: Intl.DateTimeFormatOptions): (time: number) => string {
  const formatter = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hourCycle: "h23", ...options });
  return (time) => formatter.format(time);
}

const year = format({ year: "numeric" });
const month = format({ month: "short" });
const monthYear = format({ month: "long", year: "numeric" });
const day = format({ day: "numeric", month: "short" });
const date = format({ day: "numeric", month: "short", year: "numeric" });
const clock = format({ hour: "2-digit", minute: "2-digit" });

/** A day in full. */
export const longDay = format({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
/** The time of a day. */
export const clockOf = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
/** An instant. */
export const momentOf = (time: number): string => `${date(time)}, ${clock(time)}`;

/** A range; full days without hours. */
export function rangeText({ from, until }: Range): string {
  const DAY = 86_400_000;
  if (from % DAY === 0 && until % DAY === 0) {
    return until - from === DAY ? date(from) : `${date(from)} to ${date(until - 1)}`;
  }
  if (numberOf(from, "day") === numberOf(until - 1, "day")) return `${date(from)}, ${clock(from)} to ${clock(until)}`;
  return `${momentOf(from)} to ${momentOf(until)}`;
}

/** The name of a step. */
export function stepText(steps: Steps, index: number): string {
  const [start, end] = [startOf(steps, index), startOf(steps, index + 1)];
  const { unit, every } = steps;
  if (unit === "year") return every === 1 ? year(start) : `${year(start)} to ${year(end - 1)}`;
  if (unit === "month") return every === 1 ? monthYear(start) : `${month(start)} to ${month(end - 1)} ${year(start)}`;
  return rangeText({ from: start, until: end });
}

/** What a bar is: "a day", "3 hours". */
export function unitText({ unit, every }: Steps): string {
  if (every > 1) return `${every} ${unit}s`;
  return unit === "hour" ? "an hour" : `a ${unit}`;
}

export interface Mark {
  index: number;
  text: string;
  /** What the text leaves out, where it is new: the year of a day, the day of an hour. */
  above: string;
}

const ROUND: Record<Unit, readonly number[]> = {
  minute: [1, 2, 5, 10, 15, 30, 60, 120],
  hour: [1, 2, 3, 6, 12, 24, 48, 96, 192],
  day: [1, 2, 7, 14, 28],
  week: [1, 2, 4, 8, 13, 26],
  month: [1, 2, 3, 6, 12, 24, 60, 120],
  year: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000],
};

/** The steps that the axis names: at most so many, at round times. */
export function marksOf(steps: Steps, most: number): Mark[] {
  const { unit, every, first, count } = steps;
  const distance = ROUND[unit].find((round) => round % every === 0 && (count * every) / round <= most) ?? every * Math.ceil(count / most);
  const named = wider(unit, distance);
  const marks: Mark[] = [];
  let last = "";
  for (let index = 0; index < count; index += 1) {
    if (((first + index) * every) % distance !== 0) continue;
    const start = startOf(steps, index);
    const above = aboveOf(named, start);
    marks.push({ index, text: textOf(named, start), above: above === last ? "" : above });
    last = above;
  }
  return marks;
}

/** The unit that the marks name: only years, where every mark is a January. */
function wider(unit: Unit, distance: number): Unit {
  if (unit === "month" && distance % 12 === 0) return "year";
  return unit === "hour" && distance % 24 === 0 ? "day" : unit;
}

function textOf(unit: Unit, start: number): string {
  if (unit === "year") return year(start);
  if (unit === "month") return month(start);
  return unit === "week" || unit === "day" ? day(start) : clock(start);
}

function aboveOf(unit: Unit, start: number): string {
  if (unit === "year") return "";
  return unit === "hour" || unit === "minute" ? date(start) : year(start);
}
