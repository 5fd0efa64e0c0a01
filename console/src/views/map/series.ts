// The memories by what they are coloured by: the six largest, and the others together.

import type { models } from "htm-memory";
import { count } from "../../components/basics";
import type { Division } from "./query";

export interface Series {
  name: string;
  /** The number of its colour and shape, from 1. */
  style: number;
  points: models.MapPoint[];
}

const MOST = 6;
const NO_TOPIC = "no tag";

/** A memory with several topics counts to the one that most memories have. */
export function seriesOf(points: readonly models.MapPoint[], by: Division): Series[] {
  const sizes = new Map<string, number>();
  for (const name of points.flatMap((point) => namesOf(point, by))) sizes.set(name, (sizes.get(name) ?? 0) + 1);
  const places = new Map(
    [...sizes].sort(([a, many], [b, more]) => more - many || a.localeCompare(b)).map(([name], place) => [name, place]),
  );
  const placeOf = (name: string): number => places.get(name) ?? 0;
  const groups = new Map<string, models.MapPoint[]>();
  for (const point of points) {
    const [name = NO_TOPIC] = namesOf(point, by).sort((a, b) => placeOf(a) - placeOf(b));
    groups.set(name, [...(groups.get(name) ?? []), point]);
  }
  const named = [...groups].sort(([a, few], [b, many]) => many.length - few.length || placeOf(a) - placeOf(b));
  const shown = named.slice(0, MOST).map(([name, points], index) => ({ name, style: index + 1, points }));
  const others = named.slice(MOST);
  if (others.length === 0) return shown;
  return [...shown, { name: count(others.length, "other"), style: MOST + 1, points: others.flatMap(([, points]) => points) }];
}

function namesOf({ topics, robot }: models.MapPoint, by: Division): string[] {
  return by === "robot" ? [robot] : [...topics];
}
