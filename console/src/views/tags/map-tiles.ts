// The tiles of the map: the tags of one level, sized by their memories, each with those below it.

import { squarify, type Box } from "./treemap";
import type { Branch, Tree } from "./tree";

export interface Tile {
  label: string;
  short: string;
  /** The tag; none: memories with exactly the tag above, or many small tags together. */
  path: string | undefined;
  value: number;
  box: Box;
  /** Its colour, and that of the tags in it. */
  series: number;
  inner: Tile[];
}

/** A part of a level. */
export interface Item {
  label: string;
  /** A shorter label, for a tile. */
  short: string;
  branch: Branch | undefined;
  value: number;
}

const SERIES = 5;
const MOST = 60;
const MOST_INNER = 15;
/** The height of the name above the tags in a tile, and the rim around them. */
export const HEAD = 24;
const RIM = 3;

/** The tag whose parts are shown: the chosen one, or the one above it if it has no parts. */
export function shownAt(tree: Tree, chosen: string | undefined): Branch | undefined {
  const branch = chosen === undefined ? undefined : tree.byPath.get(chosen);
  return branch && branch.children.some(hasMemories) ? branch : branch?.parent;
}

/** The parts of a tag, or the first level, the largest first. */
export function itemsOf(tree: Tree, at: Branch | undefined): Item[] {
  const tags = (at?.children ?? tree.roots).filter(hasMemories);
  const items: Item[] = tags.map((branch) => ({
    label: branch.label,
    short: branch.label,
    branch,
    value: branch.use.total,
  }));
  if (at && at.use.nodes > 0)
    items.push({ label: `exactly ${at.path}`, short: "itself", branch: undefined, value: at.use.nodes });
  return items.sort((a, b) => b.value - a.value);
}

function hasMemories({ use }: Branch): boolean {
  return use.total > 0;
}

export function tilesOf(tree: Tree, at: Branch | undefined, box: Box): Tile[] {
  return laid(together(itemsOf(tree, at), MOST), box).map(({ item, box }, index) => {
    const series = (index % SERIES) + 1;
    return { ...tileOf(item, box, series), inner: innerOf(tree, item, box, series) };
  });
}

/** The tags in a tile, where there is room for them. Their places are relative to it. */
function innerOf(tree: Tree, { branch }: Item, { width, height }: Box, series: number): Tile[] {
  if (!branch || branch.children.length === 0) return [];
  const room = { x: RIM, y: HEAD, width: width - 2 * RIM - 2, height: height - HEAD - RIM - 2 };
  if (room.width < 60 || room.height < 30) return [];
  return laid(together(itemsOf(tree, branch), MOST_INNER), room).map(({ item, box }) => tileOf(item, box, series));
}

function tileOf({ label, short, branch, value }: Item, box: Box, series: number): Tile {
  return { label, short, path: branch?.path, value, box, series, inner: [] };
}

/** The smallest as one, if there are more than `most`. */
function together(items: Item[], most: number): Item[] {
  const small = items.slice(most);
  if (small.length === 0) return items;
  const value = small.reduce((sum, item) => sum + item.value, 0);
  const label = `${small.length} smaller tags`;
  const rest = { label, short: label, branch: undefined, value };
  return [...items.slice(0, most), rest].sort((a, b) => b.value - a.value);
}

function laid(items: Item[], room: Box): { item: Item; box: Box }[] {
  const boxes = squarify(
    items.map(({ value }) => value),
    room,
  );
  return items.flatMap((item, index) => {
    const box = boxes[index];
    return box ? [{ item, box }] : [];
  });
}
