// What leaves a working memory first, and why. The server's rule: the least important, and of equally important ones the
// one that was added first.

import type { models } from "htm-memory";

export interface Leaving {
  entry: models.Entry;
  /** It leaves when something with more tokens than this comes in. */
  room: number;
  why: string;
}

/** The memories in the order in which they leave, which is that of the server. */
export function leavingOf({ nodes, stats }: models.Working): Leaving[] {
  const alike = new Map<number, number>();
  for (const { importance } of nodes) alike.set(importance, (alike.get(importance) ?? 0) + 1);
  const before = new Map<number, number>();
  let room = Math.max(0, stats.max_tokens - stats.tokens);
  return nodes.map((entry) => {
    const place = (before.get(entry.importance) ?? 0) + 1;
    before.set(entry.importance, place);
    const leaving = { entry, room, why: reason(entry.importance, place, alike.get(entry.importance) ?? 1) };
    room += entry.tokens;
    return leaving;
  });
}

function reason(importance: number, place: number, alike: number): string {
  const level = `Importance ${importanceText(importance)}`;
  return alike === 1 ? `${level}, the only one` : `${level}, added ${place === 1 ? "first" : ordinal(place)} of ${alike}`;
}

/** What leaves if so many tokens come in that were not there before. */
export function pushedOut({ nodes, stats }: models.Working, tokens: number): models.Entry[] {
  const out: models.Entry[] = [];
  let used = stats.tokens;
  for (const entry of nodes) {
    if (used <= stats.max_tokens - tokens) break;
    used -= entry.tokens;
    out.push(entry);
  }
  return out;
}

/** What would not fit a smaller budget: first what alone exceeds it. */
export function leftBehind({ nodes, stats }: models.Working, max_tokens: number): models.Entry[] {
  const oversized = nodes.filter(({ tokens }) => tokens > max_tokens);
  const tokens = stats.tokens - sumOf(oversized);
  const rest = nodes.filter((entry) => entry.tokens <= max_tokens);
  return [...oversized, ...pushedOut({ nodes: rest, stats: { ...stats, tokens, max_tokens } }, 0)];
}

export function sumOf(entries: readonly models.Entry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The order of leaving. */
export function byLeaving(a: models.Entry, b: models.Entry): number {
  return a.importance - b.importance || timeOf(a.added_at) - timeOf(b.added_at) || a.node - b.node;
}

/** A time of the server in milliseconds. It has microseconds, which a Date has not. */
export function timeOf(at: string): number {
  const micros = /\.\d{3}(\d{1,3})/.exec(at)?.[1] ?? "";
  return Date.parse(at) + Number(micros.padEnd(3, "0")) / 1_000;
}

export function importanceText(importance: number): string {
  return String(Math.round(importance * 100) / 100);
}

const plurals = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Record<string, string> = { one: "st", two: "nd", few: "rd", other: "th" };

function ordinal(value: number): string {
  return `${value}${ENDINGS[plurals.select(value)] ?? "th"}`;
}
