// The contexts of all orders at once.

import type { models } from "htm-memory";
import { htm } from "../../server";
import type { Whose } from "./acts";
import { MOST_TOKENS, filterOf, type ContextQuery } from "./context-query";
import { assembled, takenIn, type TakenIn } from "./estimate";
import { ORDERS } from "./orders";

/** Contexts, as `ORDERS` lists them. */
export interface Contexts {
  contexts: models.Context[];
  entries: ReadonlyMap<number, models.Entry>;
  /** What the query finds and what it would do to the working memory; undefined without a query. */
  query?: { recalled: models.Recalled; taken: TakenIn };
  /** Why the server could not compare the memories with the latest ones. */
  unverified?: string;
}

/**
 * The contexts. Nothing changes by it, and nothing counts as used: the server is asked for contexts without a query, and
 * for the query without a robot.
 */
export async function contextsOf(whose: Whose, query: ContextQuery, working: models.Working, signal: AbortSignal): Promise<Contexts> {
  if (!query.text.trim()) return exact(whose, query, working, signal);
  const [recalled, unasked] = await Promise.all([
    htm.recall.recall(
      { query: query.text, filter: filterOf(query, whose.namespace), limit: query.hits, count_accesses: false },
      { signal },
    ),
    // With room for all, it tells which memories do not pass the filter, and which of the others are superseded.
    context(whose, { ...query, maxTokens: MOST_TOKENS }, "balanced", signal),
  ]);
  const taken = takenIn(working, recalled.hits);
  const filtered = new Set(unasked.left_out.filter(({ reason }) => reason === "filtered").map(({ node }) => node));
  for (const { id } of recalled.hits) filtered.delete(id);
  const contents = {
    entries: taken.entries.filter(({ node }) => !filtered.has(node)),
    filtered: taken.entries.filter(({ node }) => filtered.has(node)),
    hits: recalled.hits,
    superseded: unasked.superseded ?? [],
  };
  return {
    contexts: ORDERS.map((order) => assembled(contents, order, query)),
    entries: mapped([...working.nodes, ...taken.entries]),
    query: { recalled, taken },
  };
}

async function exact(whose: Whose, query: ContextQuery, working: models.Working, signal: AbortSignal): Promise<Contexts> {
  const contexts = await Promise.all(ORDERS.map((order) => context(whose, query, order, signal)));
  const unverified = contexts.find((context) => context.unverified)?.unverified?.reason;
  return { contexts, entries: mapped(working.nodes), ...(unverified ? { unverified } : {}) };
}

function context(whose: Whose, query: ContextQuery, order: models.ContextOrder, signal: AbortSignal): Promise<models.ContextAnswer> {
  const { maxTokens: max_tokens, separator, header } = query;
  const filter = filterOf(query, whose.namespace);
  return htm.recall.context({ robot: whose.robot, filter, order, max_tokens, separator, header }, { signal });
}

function mapped(entries: readonly models.Entry[]): ReadonlyMap<number, models.Entry> {
  return new Map(entries.map((entry) => [entry.node, entry]));
}
