// Ranges of time, in milliseconds. A range includes its start and excludes its end.

import type { models } from "htm-memory";

export interface Range {
  from: number;
  until: number;
}

/** A range of which either end may be open. */
export type OpenRange = Partial<Range>;

const MINUTE = 60_000;
const NARROWEST = 6 * MINUTE;
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-01-01T00:00:00Z");

/** A range of two instants as written: `2026-03-01T00:00:00Z..2026-03-05T12:00:00Z`. Words are not understood here. */
export function rangeOf(text: string): Range | undefined {
  const instants = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.\.(\d{4}-\d\d-\d\dT[\d:.]+Z)$/.exec(text);
  const [from, until] = [Date.parse(instants?.[1] ?? ""), Date.parse(instants?.[2] ?? "")];
  return from < until ? { from, until } : undefined;
}

/** An instant as a timeframe names it, without the fraction of a second if it has none. */
function instant(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}

export function textOf({ from, until }: OpenRange): string {
  return `${from === undefined ? "" : instant(from)}..${until === undefined ? "" : instant(until)}`;
}

/** The timeframe of any of these ranges; none: any time. */
export function timeframeOf(ranges: readonly OpenRange[]): string | null {
  return ranges.map(textOf).filter((text) => text !== "..").join(", ") || null;
}

export function openRange({ from, until }: models.TimeRange): OpenRange {
  return { ...(from ? { from: Date.parse(from) } : {}), ...(until ? { until: Date.parse(until) } : {}) };
}

/** What of these ranges lies in a range. */
export function within(ranges: readonly OpenRange[], { from = -Infinity, until = Infinity }: OpenRange): OpenRange[] {
  return (ranges.length > 0 ? ranges : [{}])
    .map((range) => [Math.max(range.from ?? -Infinity, from), Math.min(range.until ?? Infinity, until)] as const)
    .filter(([from, until]) => from < until)
    .map(([from, until]) => ({ ...(from > -Infinity ? { from } : {}), ...(until < Infinity ? { until } : {}) }));
}

/** A range as many times as wide, about its middle. */
export function scaled({ from, until }: Range, factor: number): Range {
  const [middle, half] = [(from + until) / 2, Math.max(NARROWEST, (until - from) * factor) / 2];
  return rounded({ from: middle - half, until: middle + half });
}

/** A range later by a part of its width; earlier, if the part is negative. */
export function moved({ from, until }: Range, part: number): Range {
  const by = (until - from) * part;
  return rounded({ from: from + by, until: until + by });
}

export function isNarrowest({ from, until }: Range): boolean {
  // Rounding may have added a minute.
  return until - from <= NARROWEST + MINUTE;
}

/** Full minutes within the years that the server knows. */
function rounded({ from, until }: Range): Range {
  return {
    from: Math.max(EARLIEST, Math.floor(from / MINUTE) * MINUTE),
    until: Math.min(LATEST, Math.ceil(until / MINUTE) * MINUTE),
  };
}
