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

/** What a context is made of. */
export interface Contents {
  /** The memories that pass the filter. */
  entries: readonly models.Entry[];
  /** The others. */
  filtered: readonly models.Entry[];
  hits: readonly models.Node[];
  /** Which memories, besides the hits, are superseded. */
  superseded: readonly models.Superseded[];
}

/** A context of these memories, with about so many tokens. */
export function assembled(contents: Contents, order: models.ContextOrder, query: ContextQuery): models.Context {
  const { maxTokens, header, separator } = query;
  const context: models.Context = { text: "", tokens: 0, max_tokens: maxTokens, order, included: [], left_out: [] };
  const texts: string[] = [];
  const seen = new Set<string>();
  for (const entry of placed(inOrder(contents.entries, order, Date.now()), contents)) {
    const text = entry.content.trim();
    const key = header ? JSON.stringify([text, entry.source?.trim()]) : text;
    if (seen.has(key)) {
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
    seen.add(key);
  }
  for (const { node, tokens } of contents.filtered) context.left_out.push({ node, tokens, reason: "filtered" });
  // A header has the age as the server says it, and protects against texts that imitate one.
  return { ...context, text: header ? "" : texts.join(separator) };
}

/** Memories with the hits first, the best one first. Superseded ones come last, each behind its successors. */
function placed(entries: readonly models.Entry[], { hits, superseded }: Contents): models.Entry[] {
  const ranks = new Map(hits.map(({ id }, rank) => [id, rank]));
  const rankOf = ({ node }: models.Entry): number => ranks.get(node) ?? hits.length;
  const ofHits = hits.map(({ id, superseded_by = [] }) => ({ node: id, superseded_by }));
  const known = generations([...superseded, ...ofHits.filter(({ superseded_by }) => superseded_by.length > 0)]);
  const generationOf = ({ node }: models.Entry): number => known.get(node) ?? 0;
  return [...entries].sort((a, b) => generationOf(a) - generationOf(b) || rankOf(a) - rankOf(b));
}

/**
 * The generation of each superseded memory: one more than that of the last of its successors. Without recursion: chains may
 * be long.
 */
function generations(superseded: readonly models.Superseded[]): Map<number, number> {
  const successors = new Map(superseded.map(({ node, superseded_by }) => [node, superseded_by.map((by) => by.node)]));
  const known = new Map<number, number>();
  for (const start of successors.keys()) {
    const open = known.has(start) ? [] : [start];
    for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
      // A memory that is open counts as known, so a circle ends.
      if (!known.has(node)) known.set(node, 1);
      const own = successors.get(node) ?? [];
      const next = own.find((by) => successors.has(by) && !known.has(by));
      if (next !== undefined) {
        open.push(next);
        continue;
      }
      known.set(node, own.reduce((last, by) => Math.max(last, 1 + (known.get(by) ?? 0)), 1));
      open.pop();
    }
  }
  return known;
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
