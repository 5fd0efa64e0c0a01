// Where the parts of the chart are.

import type { Steps } from "./steps";

export interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
  height: number;
  /** The width of a step. */
  step: number;
  /** The value at the top. */
  max: number;
}

const HEIGHT = 240;
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The end of an axis: a round number that is at least a value, of which the half is a whole number too. */
export function scaleOf(value: number): number {
  if (value <= 10) return Math.max(2, 2 * Math.ceil(value / 2));
  const power = 10 ** Math.floor(Math.log10(value));
  return ROUND.map((factor) => Math.round(factor * power)).find((top) => top >= value) ?? value;
}

export function plotOf(width: number, { count }: Steps, totals: readonly number[]): Plot {
  const [left, right] = [48, Math.max(120, width - 16)];
  const max = scaleOf(Math.max(0, ...totals));
  return { left, right, top: 10, bottom: HEIGHT - 44, height: HEIGHT, step: (right - left) / Math.max(1, count), max };
}

export function xOf(plot: Plot, place: number): number {
  return plot.left + place * plot.step;
}

export function yOf(plot: Plot, value: number): number {
  return plot.bottom - ((plot.bottom - plot.top) * value) / plot.max;
}

/** The step below a pointer. */
export function stepAt(plot: Plot, count: number, x: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor((x - plot.left) / plot.step)));
}
