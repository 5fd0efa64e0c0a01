// A closed line around places of the map.

/** A place in the map's own measure, from -1 to 1. */
export interface Place {
  x: number;
  y: number;
}

/** Corners that are nearer to each other, in pixels, are one: so many are enough, and the address stays short. */
const NEAR = 6;
const MOST = 80;

/** The corners of a line that was drawn on the screen. */
export function cornersOf(line: readonly Place[]): Place[] {
  const corners: Place[] = [];
  for (const place of line) {
    const last = corners.at(-1);
    if (!last || Math.hypot(place.x - last.x, place.y - last.y) >= NEAR) corners.push(place);
  }
  const step = Math.ceil(corners.length / MOST);
  return corners.filter((_, index) => index % step === 0);
}

/** A circle as corners. */
export function circleOf({ x, y }: Place, radius: number): Place[] {
  return Array.from({ length: 24 }, (_, index) => {
    const turn = (2 * Math.PI * index) / 24;
    return { x: x + radius * Math.cos(turn), y: y + radius * Math.sin(turn) };
  });
}

/** Whether a place is within the line: a ray from it crosses the line an odd number of times. */
export function isWithin(corners: readonly Place[], { x, y }: Place): boolean {
  let isInside = false;
  corners.forEach((a, index) => {
    const b = corners.at(index - 1) ?? a;
    if (a.y > y !== b.y > y && x < a.x + ((b.x - a.x) * (y - a.y)) / (b.y - a.y)) isInside = !isInside;
  });
  return isInside;
}

/** The corners as text, and back. What is no line is none. */
export function written(corners: readonly Place[]): string {
  return corners.map(({ x, y }) => `${x.toFixed(4)},${y.toFixed(4)}`).join(" ");
}

export function read(text: string): Place[] {
  const corners = text.split(" ").flatMap((corner) => {
    const [x = NaN, y = NaN] = corner.split(",").map(Number);
    return Number.isFinite(x) && Number.isFinite(y) ? [{ x, y }] : [];
  });
  return corners.length < 3 ? [] : corners;
}
