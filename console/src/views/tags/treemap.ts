// A squarified treemap (Bruls, Huizing and van Wijk, 2000): boxes whose areas are as the values, near to squares.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The boxes of positive values, the largest first, in the order of the values. Together they fill the box. */
export function squarify(values: readonly number[], box: Box): Box[] {
  const sum = values.reduce((sum, value) => sum + value, 0);
  if (sum <= 0 || box.width <= 0 || box.height <= 0) return [];
  const scale = (box.width * box.height) / sum;
  const areas = values.map((value) => value * scale);
  const boxes: Box[] = [];
  let left = box;
  for (let start = 0; start < areas.length;) {
    const strip = stripOf(areas, start, Math.min(left.width, left.height));
    boxes.push(...laid(strip, left));
    left = rest(strip, left);
    start += strip.length;
  }
  return boxes;
}

/** The areas from `start` that stand beside each other: as many as make the flattest of them less flat. */
function stripOf(areas: readonly number[], start: number, side: number): number[] {
  const strip: number[] = [];
  let sum = 0;
  for (const area of areas.slice(start)) {
    const isBetter = strip.length === 0 || worst(strip, area, sum + area, side) <= worst(strip, undefined, sum, side);
    if (!isBetter) break;
    strip.push(area);
    sum += area;
  }
  return strip;
}

/** The highest ratio of sides in a strip, with one more area. */
function worst(strip: readonly number[], more: number | undefined, sum: number, side: number): number {
  const largest = strip[0] ?? more ?? 0;
  const smallest = more ?? strip.at(-1) ?? 0;
  const square = (sum / side) ** 2;
  return Math.max(largest / square, square / smallest);
}

function laid(strip: readonly number[], { x, y, width, height }: Box): Box[] {
  const sum = total(strip);
  const isUpright = width >= height;
  const thickness = sum / Math.min(width, height);
  let place = isUpright ? y : x;
  return strip.map((area) => {
    const length = area / thickness;
    const box = isUpright
      ? { x, y: place, width: thickness, height: length }
      : { x: place, y, width: length, height: thickness };
    place += length;
    return box;
  });
}

function rest(strip: readonly number[], { x, y, width, height }: Box): Box {
  const thickness = total(strip) / Math.min(width, height);
  return width >= height
    ? { x: x + thickness, y, width: Math.max(0, width - thickness), height }
    : { x, y: y + thickness, width, height: Math.max(0, height - thickness) };
}

function total(strip: readonly number[]): number {
  return strip.reduce((sum, area) => sum + area, 0);
}
