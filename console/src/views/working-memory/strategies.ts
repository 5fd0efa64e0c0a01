// The strategies of contexts: which memories come first.

import type { models } from "htm-memory";
import { timeOf } from "./eviction";

export const STRATEGIES: readonly models.ContextStrategy[] = ["balanced", "recent", "important", "frequent"];

export const STRATEGY_NAMES: Record<models.ContextStrategy, string> = {
  balanced: "Balanced",
  recent: "Recent",
  important: "Important",
  frequent: "Frequent",
};

export const STRATEGY_ORDERS: Record<models.ContextStrategy, string> = {
  balanced: "First what is important and came in lately: importance ÷ (1 + hours in mind). The default.",
  recent: "First what was used last.",
  important: "First what is most important.",
  frequent: "First what was used most often.",
};

const HOUR_MS = 3_600_000;

/** Memories in the order of a strategy, as the server sorts them. */
export function inOrder(entries: readonly models.Entry[], strategy: models.ContextStrategy, now: number): models.Entry[] {
  const values: Record<models.ContextStrategy, (entry: models.Entry) => number> = {
    recent: () => 0,
    important: ({ importance }) => importance,
    frequent: ({ accesses }) => accesses,
    balanced: ({ importance, added_at }) => importance / (1 + Math.max(0, now - timeOf(added_at)) / HOUR_MS),
  };
  const value = values[strategy];
  return [...entries].sort((a, b) => value(b) - value(a) || timeOf(b.accessed_at) - timeOf(a.accessed_at) || b.node - a.node);
}
