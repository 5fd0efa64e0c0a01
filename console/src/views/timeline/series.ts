// The parts of the bars: the six largest names, and the others together.

import { count } from "../../components/basics";
import type { Counts } from "./ask";

export interface Series {
  name: string;
  /** The number of its colour and pattern, from 1. */
  style: number;
  /** The memories of each step. */
  values: number[];
  sum: number;
  /** The robot or the tag; none: several, or not divided. */
  only: string | undefined;
}

const MOST = 6;

export function seriesOf({ cells, steps, by }: Counts): Series[] {
  const values = new Map<string, number[]>();
  for (const { index, name, memories } of cells) {
    const key = by === "time" ? "" : (name ?? "");
    const list = values.get(key) ?? new Array<number>(steps.count).fill(0);
    list[index] = (list[index] ?? 0) + memories;
    values.set(key, list);
  }
  const named = [...values].map(([name, list]) => ({ name, values: list, sum: sum(list) }));
  named.sort((a, b) => b.sum - a.sum || a.name.localeCompare(b.name));
  if (by === "time") return named.map((one) => ({ ...one, name: "Memories", style: 1, only: undefined }));
  const shown: Series[] = named.slice(0, MOST).map((one, index) => ({ ...one, style: index + 1, only: one.name }));
  const others = named.slice(MOST);
  if (others.length > 0) {
    const together = Array.from({ length: steps.count }, (_, step) => sum(others.map(({ values }) => values[step] ?? 0)));
    shown.push({ name: count(others.length, "other"), style: MOST + 1, values: together, sum: sum(together), only: undefined });
  }
  return shown;
}

function sum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
