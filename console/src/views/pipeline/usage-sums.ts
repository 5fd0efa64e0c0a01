// The tokens of a namespace on a day, from those of its stages and models.

import type { models } from "htm-memory";

export interface Sum {
  day: string;
  namespace: string;
  jobs: number;
  tokens: number;
  /** The most tokens first. */
  parts: models.TokenUsage[];
}

/** The latest day first, and in each day the most tokens first, as a budget would count them. */
export function sumsOf(rows: readonly models.TokenUsage[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const { day, namespace } = row;
    const key = `${day} ${namespace}`;
    const sum = sums.get(key) ?? { day, namespace, jobs: 0, tokens: 0, parts: [] };
    sums.set(key, {
      ...sum,
      jobs: sum.jobs + row.jobs,
      tokens: sum.tokens + row.tokens,
      parts: [...sum.parts, row],
    });
  }
  return [...sums.values()].sort((one, other) => other.day.localeCompare(one.day) || other.tokens - one.tokens);
}
