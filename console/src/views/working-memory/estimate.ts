// The contexts that a query would lead to. The server assembles them only when it puts what it finds into the working
// memory, so they are worked out here by its rules. Its count of the joined text is not known here: tokens are estimated.

import type { models } from "htm-memory";
import type { ContextQuery } from "./context-query";
import { byLeaving } from "./eviction";
import { inOrder } from "./orders";

/** A working memory with the hits of a query in it. */
export interface TakenIn {
  entries: models.Entry[];
  /** What came in. */
  entered: Set<number>;
  /** What was there already, and counts as used again. */
  used: Set<number>;
  /** What left for it. */
  left: models.Entry[];
  /** What was found and alone exceeds the budget. */
  oversized: number[];
}

/** Takes hits into a working memory, the best one last. */
export function takenIn({ nodes, stats }: models.Working, hits: readonly models.Node[]): TakenIn {
  const held = new Map(nodes.map((entry) => [entry.node, entry]));
  const order = [...nodes];
  const taken: TakenIn = { entries: [], entered: new Set(), used: new Set(), left: [], oversized: [] };
  let tokens = stats.tokens;
  const drop = (entry: models.Entry): void => {
    held.delete(entry.node);
    order.splice(order.indexOf(entry), 1);
    tokens -= entry.tokens;
  };
  [...hits].reverse().forEach((hit, index) => {
    const old = held.get(hit.id);
    if (old) drop(old);
    if (hit.token_count > stats.max_tokens) {
      taken.oversized.push(hit.id);
      return;
    }
    const entry = entryOf(hit, old, index);
    while (tokens > stats.max_tokens - entry.tokens && order[0]) {
      taken.left.push(order[0]);
      drop(order[0]);
    }
    (old ? taken.used : taken.entered).add(hit.id);
    held.set(entry.node, entry);
    order.splice(placeIn(order, entry), 0, entry);
    tokens += entry.tokens;
  });
  const gone = taken.left.filter(({ node }) => !held.has(node));
  for (const { node } of gone) {
    taken.entered.delete(node);
    taken.used.delete(node);
  }
  // What came in and was pushed out by a better hit was never there.
  const before = new Set(nodes.map(({ node }) => node));
  return { ...taken, entries: order, left: gone.filter(({ node }) => before.has(node)) };
}

function entryOf(hit: models.Node, old: models.Entry | undefined, index: number): models.Entry {
  // Each comes a little later than the one before it.
  const now = new Date(Date.now() + index).toISOString();
  const { id, content, token_count, importance, source, created_at, revision } = hit;
  return {
    node: id,
    content,
    tokens: token_count,
    importance,
    source,
    happened_at: created_at,
    revision,
    added_at: old?.added_at ?? now,
    accessed_at: now,
    accesses: old ? old.accesses + 1 : 0,
  };
}

function placeIn(order: readonly models.Entry[], entry: models.Entry): number {
  const place = order.findIndex((other) => byLeaving(entry, other) < 0);
  return place === -1 ? order.length : place;
}

/** A context of these memories, with about so many tokens. */
export function assembled(
  entries: readonly models.Entry[],
  order: models.ContextOrder,
  query: ContextQuery,
  hits: readonly models.Node[],
): models.Context {
  const { maxTokens, header, separator } = query;
  const context: models.Context = { text: "", tokens: 0, max_tokens: maxTokens, order, included: [], left_out: [] };
  const texts: string[] = [];
  const seen = new Set<string>();
  for (const entry of hitsFirst(inOrder(entries, order, Date.now()), hits)) {
    const text = entry.content.trim();
    if (seen.has(text)) {
      context.left_out.push({ node: entry.node, tokens: entry.tokens, reason: "duplicate" });
      continue;
    }
    const own = entry.tokens + (header ? headerTokens(entry) : 0);
    const all = context.tokens + own + separatorTokens(separator, texts.at(-1));
    if (all > maxTokens) {
      context.left_out.push({ node: entry.node, tokens: entry.tokens, reason: own > maxTokens ? "oversized" : "no_room" });
      continue;
    }
    context.tokens = all;
    context.included.push(entry.node);
    texts.push(entry.content);
    seen.add(text);
  }
  // A header has the age as the server says it, and protects against texts that imitate one.
  return { ...context, text: header ? "" : texts.join(separator) };
}

/** Memories with the hits first, the best one first. Hits that others supersede come last. */
function hitsFirst(entries: readonly models.Entry[], hits: readonly models.Node[]): models.Entry[] {
  const others = hits.length;
  const places = new Map(hits.map(({ id, superseded_by }, place) => [id, superseded_by?.length ? others + 1 + place : place]));
  const placeOf = ({ node }: models.Entry): number => places.get(node) ?? others;
  return [...entries].sort((a, b) => placeOf(a) - placeOf(b));
}

/** About the tokens of a separator after a text; undefined: it is the first one. */
function separatorTokens(separator: string, before: string | undefined): number {
  if (before === undefined) return 0;
  // The ends of lines are one token with the sign before them.
  const rest = /\p{P}$/u.test(before) ? separator.replace(/^\n+/, "") : separator;
  return Math.ceil(rest.length / 4);
}

/** About the tokens of `<memory age="3 hours ago" source="chat">` and the line that closes it. */
function headerTokens({ source }: models.Entry): number {
  return 11 + (source ? 2 + Math.ceil(source.length / 5) : 0);
}
