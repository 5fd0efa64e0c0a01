// The parts of a hit's score.
//
// Hits are ordered by a value that is the sum of its parts. The score, 0 to 1, is in proportion to it: the best hit has its
// similarity, its share of the highest possible BM25, or the mean of both. So are the parts here, that they are of the score.

import type { models } from "htm-memory";

export interface Part {
  name: string;
  series: number;
  /** Its share of the score; less than 0 if it lowers the score. */
  value: number;
  /** What it adds to the value that orders the hits. */
  raw: number;
}

const NAMES: Record<string, { name: string; series: number }> = {
  vector: { name: "meaning", series: 1 },
  words: { name: "words", series: 2 },
  together: { name: "words side by side", series: 3 },
  exact: { name: "exact terms", series: 4 },
  neighbours: { name: "turns beside it", series: 5 },
  speaker: { name: "speaker", series: 6 },
  time: { name: "time", series: 7 },
};

export function scaled(hit: models.Hit): Part[] {
  const parts = hit.explanation?.parts ?? [];
  const whole = sumOf(parts.map(({ score }) => score));
  // What is in order by a value of 0 or less has no proportions.
  const scale = whole > 0 ? hit.scores.score / whole : 0;
  return parts.map(({ name, score }) => ({ ...(NAMES[name] ?? { name, series: 6 }), value: scale * score, raw: score }));
}

/** The values with two digits, so that their sum is the rounded sum: each is rounded with what stands before it. */
export function rounded(values: readonly number[]): string[] {
  const ends = values.map((_, index) => Math.round(100 * sumOf(values.slice(0, index + 1))));
  return ends.map((end, index) => decimal((end - (ends[index - 1] ?? 0)) / 100));
}

/** With two digits; never “-0.00”. */
export function decimal(value: number): string {
  return (Math.round(100 * value) / 100).toFixed(2);
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
