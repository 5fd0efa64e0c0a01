// Where the places of the map are on the screen: in one scale, as large as the drawing allows.

import type { Place } from "./lasso";
import { REACH } from "./marks";

export interface Plot {
  width: number;
  height: number;
  /** Pixels a unit of the map. */
  scale: number;
  /** The place of the middle of the drawing. */
  middle: Place;
}

const EDGE = REACH + 8;
const LEAST = 240;
const MOST = 560;
const MOST_SCALE = 2_000;

export function plotOf(places: readonly Place[], width: number): Plot {
  const [left, right] = extent(places.map(({ x }) => x));
  const [bottom, top] = extent(places.map(({ y }) => y));
  const across = Math.max(right - left, 1e-6);
  const up = Math.max(top - bottom, 1e-6);
  const inner = Math.max(100, width - 2 * EDGE);
  const height = Math.min(MOST, Math.max(LEAST, (inner * up) / across + 2 * EDGE));
  // Of one memory there is no extent: the whole map has two units.
  const scale = Math.min(inner / across, (height - 2 * EDGE) / up, MOST_SCALE);
  return { width, height, scale, middle: { x: (left + right) / 2, y: (bottom + top) / 2 } };
}

function extent(values: readonly number[]): [number, number] {
  return values.reduce<[number, number]>(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
}

/** A place in pixels. Up is positive in the map, and negative on the screen. */
export function onScreen({ width, height, scale, middle }: Plot, { x, y }: Place): Place {
  return { x: width / 2 + (x - middle.x) * scale, y: height / 2 - (y - middle.y) * scale };
}

/** A pixel as a place. */
export function onMap({ width, height, scale, middle }: Plot, { x, y }: Place): Place {
  return { x: middle.x + (x - width / 2) / scale, y: middle.y - (y - height / 2) / scale };
}

export function pathOf(plot: Plot, places: readonly Place[]): string {
  return places.map((place, index) => {
    const { x, y } = onScreen(plot, place);
    return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }).join("");
}
