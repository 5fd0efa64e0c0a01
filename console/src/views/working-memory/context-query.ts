// What contexts are asked for, as the address holds it.

import type { models } from "htm-memory";

export interface ContextQuery {
  /** What the robot would be asked; empty: only its working memory. */
  text: string;
  maxTokens: number;
  header: boolean;
  separator: string;
  /** The most hits of the text. */
  hits: number;
  importance: string;
  type: string;
  tag: string;
  time: string;
}

export const MAX_TOKENS = 4_000;
export const MOST_TOKENS = 1_000_000;
export const SEPARATOR = "\n\n";
export const HITS = 20;
export const MOST_HITS = 1_000;

export function read(query: URLSearchParams): ContextQuery {
  return {
    text: query.get("q") ?? "",
    maxTokens: within(query.get("tokens"), MAX_TOKENS, MOST_TOKENS),
    header: query.get("header") === "yes",
    separator: query.get("separator") ?? SEPARATOR,
    hits: within(query.get("hits"), HITS, MOST_HITS),
    importance: query.get("importance") ?? "",
    type: query.get("type") ?? "",
    tag: query.get("tag") ?? "",
    time: query.get("time") ?? "",
  };
}

function within(text: string | null, plain: number, most: number): number {
  const value = Number(text);
  return text && Number.isInteger(value) && value >= 1 && value <= most ? value : plain;
}

/** Which memories a context may have. In it, the namespace also names the robot's. */
export function filterOf(query: ContextQuery, namespace: string | undefined): models.FilterBody {
  return {
    namespaces: namespace === undefined ? [] : [namespace],
    min_importance: query.importance === "" ? null : Number(query.importance),
    types: query.type ? [query.type] : [],
    tags: query.tag ? [query.tag] : [],
    timeframe: query.time || null,
  };
}

export function isFiltered({ importance, type, tag, time }: ContextQuery): boolean {
  return [importance, type, tag, time].some((text) => text !== "");
}

/** A separator as somebody types it: \n for the end of a line. */
export function escaped(separator: string): string {
  return separator.replace(/[\\\n\t]/g, (sign) => ({ "\\": "\\\\", "\n": "\\n", "\t": "\\t" })[sign] ?? sign);
}

export function unescaped(typed: string): string {
  return typed.replace(/\\([\\nt])/g, (_, sign: string) => ({ "\\": "\\", n: "\n", t: "\t" })[sign] ?? sign);
}
