// Suggestions that somebody refused. The server keeps no refusals: they are kept in this browser, for each namespace.

import { useState } from "preact/hooks";
import type { models } from "htm-memory";

const MOST = 1_000;

interface Refusals {
  has: (suggestion: models.Suggestion) => boolean;
  set: (suggestion: models.Suggestion, isRefused: boolean) => void;
}

export function useRefusals(namespace: string | undefined): Refusals {
  const key = `htm-tags-refused ${namespace ?? ""}`;
  const [refused, setRefused] = useState(() => read(key));
  const set = (suggestion: models.Suggestion, isRefused: boolean): void => {
    const others = read(key).filter((it) => it !== pair(suggestion));
    const now = isRefused ? [...others, pair(suggestion)].slice(-MOST) : others;
    localStorage.setItem(key, JSON.stringify(now));
    setRefused(now);
  };
  return { has: (suggestion) => refused.includes(pair(suggestion)), set };
}

/** The same pair whichever of the two is to stay: that changes with their memories. */
function pair({ from, into }: models.Suggestion): string {
  return [from, into].sort().join(" ");
}

function read(key: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter((it) => typeof it === "string") : [];
  } catch {
    return [];
  }
}
