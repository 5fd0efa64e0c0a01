// A timeline as the address holds it.

import type { models } from "htm-memory";
import { rangeOf, textOf, type Range } from "./ranges";

export type Division = "time" | "robot" | "tag";

export interface Query {
  /** What the chart shows: words such as `last week`, or `A..B`. None: all time. */
  timeframe: string;
  /** What is selected in the chart. */
  selected: Range | undefined;
  by: Division;
  robots: string[];
  tags: string[];
  session: string;
  /** The list has memories before this time only. */
  before: number | undefined;
  limit: number;
}

export type Change = Partial<Query>;
export type Setter = (change: Change, replace?: boolean) => void;

export const PAGE = 50;
/** The most memories on the page. */
export const MOST = 300;

const DIVISIONS: readonly Division[] = ["time", "robot", "tag"];

export function read(parameters: URLSearchParams): Query {
  return {
    timeframe: parameters.get("time") ?? "",
    selected: rangeOf(parameters.get("selected") ?? ""),
    by: DIVISIONS.find((by) => by === parameters.get("by")) ?? "robot",
    robots: parameters.getAll("robot"),
    tags: parameters.getAll("tag"),
    session: parameters.get("session") ?? "",
    before: Date.parse(parameters.get("before") ?? "") || undefined,
    limit: Math.min(MOST, Math.max(PAGE, Math.trunc(Number(parameters.get("limit"))) || PAGE)),
  };
}

export function written(query: Query): Record<string, string | number | readonly string[] | null> {
  return {
    time: query.timeframe,
    selected: query.selected ? textOf(query.selected) : null,
    by: query.by === "robot" ? null : query.by,
    robot: query.robots,
    tag: query.tags,
    session: query.session,
    before: query.before === undefined ? null : new Date(query.before).toISOString(),
    limit: query.limit === PAGE ? null : query.limit,
  };
}

/** A query after a change. The list begins anew, unless it is the list that changes. */
export function changed(query: Query, change: Change): Query {
  const isOfTheList = "before" in change || "limit" in change;
  return { ...query, ...(isOfTheList ? {} : { before: undefined, limit: PAGE }), ...change };
}

/** What the memories are narrowed to, besides their time. */
export function filterOf({ robots, tags, session }: Query, namespace: string | undefined): models.FilterBody {
  return { namespaces: namespace === undefined ? [] : [namespace], robots, tags, session: session || null };
}

export function isNarrowed({ robots, tags, session }: Query): boolean {
  return robots.length > 0 || tags.length > 0 || session !== "";
}
