// The orders of contexts: which memories come first.

import type { models } from "htm-memory";
import { timeOf } from "./eviction";

export const ORDERS: readonly models.ContextOrder[] = ["balanced", "recent", "important", "frequent"];

export const ORDER_NAMES: Record<models.ContextOrder, string> = {
  balanced: "Balanced",
  recent: "Recent",
  important: "Important",
  frequent: "Frequent",
};

export const ORDER_MEANINGS: Record<models.ContextOrder, string> = {
  balanced: "First what is important and came in lately: importance ÷ (1 + hours since it was added). The default.",
  recent: "First what was used last.",
  important: "First what is most important.",
  frequent: "First what was used most often.",
};

const HOUR_MS = 3_600_000;

/** Memories in an order, as the server sorts them. */
export function inOrder(entries: readonly models.Entry[], order: models.ContextOrder, now: number): models.Entry[] {
  const values: Record<models.ContextOrder, (entry: models.Entry) => number> = {
    recent: () => 0,
    important: ({ importance }) => importance,
    frequent: ({ accesses }) => accesses,
    balanced: ({ importance, added_at }) => importance / (1 + Math.max(0, now - timeOf(added_at)) / HOUR_MS),
  };
  const value = values[order];
  return [...entries].sort((a, b) => value(b) - value(a) || timeOf(b.accessed_at) - timeOf(a.accessed_at) || b.node - a.node);
}
