// The tags of a namespace as a tree.

import type { models } from "htm-memory";

/** A tag with those below it. */
export interface Branch {
  path: string;
  /** Its name below its parent. */
  label: string;
  /** From 1. */
  level: number;
  use: models.TagUse;
  parent: Branch | undefined;
  children: Branch[];
  /** Other names of the tag. */
  synonyms: string[];
}

export interface Tree {
  roots: Branch[];
  byPath: ReadonlyMap<string, Branch>;
}

export type Order = "name" | "memories";

/** The tree of tags that are listed with each followed by those below it. */
export function treeOf(uses: readonly models.TagUse[], synonyms: readonly models.Synonym[], order: Order): Tree {
  const roots: Branch[] = [];
  const byPath = new Map<string, Branch>();
  for (const use of uses) {
    const parent = nearestAbove(use.tag, byPath);
    const label = parent ? use.tag.slice(parent.path.length + 1) : use.tag;
    const branch = { path: use.tag, label, level: (parent?.level ?? 0) + 1, use, parent, children: [], synonyms: [] };
    (parent?.children ?? roots).push(branch);
    byPath.set(use.tag, branch);
  }
  for (const { name, tag } of synonyms) byPath.get(tag)?.synonyms.push(name);
  if (order === "memories") {
    const most = (a: Branch, b: Branch): number => b.use.total - a.use.total;
    roots.sort(most);
    for (const branch of byPath.values()) branch.children.sort(most);
  }
  return { roots, byPath };
}

function nearestAbove(path: string, byPath: ReadonlyMap<string, Branch>): Branch | undefined {
  for (let end = path.lastIndexOf(":"); end > 0; end = path.lastIndexOf(":", end - 1)) {
    const found = byPath.get(path.slice(0, end));
    if (found) return found;
  }
  return undefined;
}

/** The tags above a tag, the root first. */
export function above(branch: Branch | undefined): Branch[] {
  const found: Branch[] = [];
  for (let it = branch?.parent; it; it = it.parent) found.unshift(it);
  return found;
}

/** What a text finds. */
export interface Found {
  matches: ReadonlySet<Branch>;
  /** The tags above the matches. */
  above: ReadonlySet<Branch>;
}

/** The tags with a text in their name or in another name. A text with a colon is looked for in whole paths. */
export function find(tree: Tree, text: string): Found {
  const wanted = wantedIn(text);
  const matches = new Set<Branch>();
  const parents = new Set<Branch>();
  for (const branch of tree.byPath.values()) {
    const name = wanted.includes(":") ? branch.path : branch.label;
    if (!name.includes(wanted) && !branch.synonyms.some((it) => it.includes(wanted))) continue;
    matches.add(branch);
    for (let it = branch.parent; it && !parents.has(it); it = it.parent) parents.add(it);
  }
  return { matches, above: parents };
}

/** A text as it would stand in a tag. */
export function wantedIn(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/\s*:\s*/g, ":")
    .replace(/[\s_]+/g, "-");
}

/** The rows that are seen: each tag, and those below it if it is unfolded. */
export function rowsOf(tree: Tree, isOpen: (branch: Branch) => boolean, found: Found | undefined): Branch[] {
  const rows: Branch[] = [];
  const add = (branch: Branch): void => {
    rows.push(branch);
    if (!isOpen(branch)) return;
    // Below a tag that leads to matches only what leads to them; below a match everything, when somebody unfolds it.
    const isOnTheWay = found?.above.has(branch);
    branch.children.filter((it) => !isOnTheWay || isFound(it, found)).forEach(add);
  };
  tree.roots.filter((it) => isFound(it, found)).forEach(add);
  return rows;
}

/** Which a row is of those beside it, from 1, and how many these are. */
export interface Place {
  place: number;
  siblings: number;
}

/** The places of rows that are seen. */
export function placesOf(rows: readonly Branch[]): Place[] {
  const counts = new Map<Branch | undefined, number>();
  const places = rows.map(({ parent }) => {
    const place = (counts.get(parent) ?? 0) + 1;
    counts.set(parent, place);
    return { place, parent };
  });
  return places.map(({ place, parent }) => ({ place, siblings: counts.get(parent) ?? place }));
}

function isFound(branch: Branch, found: Found | undefined): boolean {
  return !found || found.matches.has(branch) || found.above.has(branch);
}
