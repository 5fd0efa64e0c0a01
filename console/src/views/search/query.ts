// A search as the address holds it.

import type { models } from "htm-memory";

export interface Query {
  text: string;
  strategy: models.Strategy;
  /** In words: `last week`, `2026-03-01..2026-04-01`, `auto` (as the text says). */
  timeframe: string;
  tags: string[];
  robots: string[];
  types: string[];
  session: string;
  isCompared: boolean;
  limit: number;
}

export type Setter = (change: Partial<Query>, replace?: boolean) => void;

const LIMIT = 20;
const STRATEGIES: readonly models.Strategy[] = ["auto", "hybrid", "vector", "fulltext"];

export function read(parameters: URLSearchParams): Query {
  const limit = Number(parameters.get("limit"));
  return {
    text: parameters.get("q") ?? "",
    strategy: STRATEGIES.find((strategy) => strategy === parameters.get("strategy")) ?? "hybrid",
    timeframe: parameters.get("time") ?? "",
    tags: parameters.getAll("tag"),
    robots: parameters.getAll("robot"),
    types: parameters.getAll("type"),
    session: parameters.get("session") ?? "",
    isCompared: parameters.get("compare") === "yes",
    limit: Number.isInteger(limit) && limit > 0 ? limit : LIMIT,
  };
}

export function written(query: Query): Record<string, string | number | readonly string[] | null> {
  return {
    q: query.text,
    strategy: query.strategy === "hybrid" ? null : query.strategy,
    time: query.timeframe,
    tag: query.tags,
    robot: query.robots,
    type: query.types,
    session: query.session,
    compare: query.isCompared ? "yes" : null,
    limit: query.limit === LIMIT ? null : query.limit,
  };
}

/** The request for a search. Looking does not count as use. */
export function body(query: Query, namespace: string | undefined): models.RecallBody {
  return {
    query: query.text,
    strategy: query.strategy,
    limit: query.limit,
    explain: true,
    snippets: true,
    count_accesses: false,
    filter: {
      namespaces: namespace === undefined ? [] : [namespace],
      timeframe: query.timeframe || null,
      tags: query.tags,
      robots: query.robots,
      types: query.types,
      session: query.session || null,
    },
  };
}

/** What narrows nothing. */
export const UNFILTERED = { timeframe: "", tags: [], robots: [], types: [], session: "" } satisfies Partial<Query>;

export function isNarrowed({ timeframe, tags, robots, types, session }: Query): boolean {
  return timeframe !== "" || tags.length + robots.length + types.length > 0 || session !== "";
}
