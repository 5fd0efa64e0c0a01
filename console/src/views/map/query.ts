// A map as the address holds it.

import type { models } from "htm-memory";
import { isWithin, read as readLasso, written as writtenLasso, type Place } from "./lasso";
import type { Series } from "./series";

export type Division = "topic" | "robot";

export interface Query {
  by: Division;
  /** The series that is looked at; none: all. */
  only: string | undefined;
  /** The corners of the lasso, in the map's own measure; none: everything is chosen. */
  lasso: readonly Place[];
  /** The sample that the lasso was drawn on: in another one, other memories are at its places. */
  sample: string;
  timeframe: string;
  robots: string[];
  tags: string[];
}

export type Setter = (change: Partial<Query>, replace?: boolean) => void;

export function read(parameters: URLSearchParams): Query {
  return {
    by: parameters.get("by") === "robot" ? "robot" : "topic",
    only: parameters.get("only") ?? undefined,
    lasso: readLasso(parameters.get("lasso") ?? ""),
    sample: parameters.get("sample") ?? "",
    timeframe: parameters.get("time") ?? "",
    robots: parameters.getAll("robot"),
    tags: parameters.getAll("tag"),
  };
}

export function written({ by, only, lasso, sample, timeframe, robots, tags }: Query): Record<string, string | readonly string[] | null> {
  return {
    by: by === "topic" ? null : by,
    only: only ?? null,
    lasso: writtenLasso(lasso),
    sample: lasso.length > 0 ? sample : null,
    time: timeframe,
    robot: robots,
    tag: tags,
  };
}

/** A query after a change. Another filter gives another map, where the selection would mean nothing. */
export function changed(query: Query, change: Partial<Query>): Query {
  const isOtherMap = "timeframe" in change || "robots" in change || "tags" in change;
  return { ...query, ...(isOtherMap ? { lasso: [], only: undefined } : {}), ...change };
}

/** A name for a sample: the same for the same memories. */
export function sampleOf(points: readonly models.MapPoint[]): string {
  // FNV-1a of the ids.
  const hash = points.reduce((hash, { node }) => Math.imul(hash ^ node, 0x01000193), 0x811c9dc5);
  return (hash >>> 0).toString(36);
}

export function filterOf({ timeframe, robots, tags }: Query, namespace: string | undefined): models.FilterBody {
  return { namespaces: namespace === undefined ? [] : [namespace], robots, tags, ...(timeframe && { timeframe }) };
}

export function isNarrowed({ timeframe, robots, tags }: Query): boolean {
  return timeframe !== "" || robots.length > 0 || tags.length > 0;
}

/** The memories within the lasso and of the series that is looked at, the latest first. */
export function chosenOf(series: readonly Series[], { only, lasso }: Query): models.MapPoint[] {
  const looked = only === undefined ? series : series.filter(({ name }) => name === only);
  const chosen = looked.flatMap(({ points }) => points).filter((point) => lasso.length === 0 || isWithin(lasso, point));
  return chosen.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.node - a.node);
}
