// The shapes of the memories: a series is told by its shape as well as by its colour.

/** The most that a shape reaches from its middle, in pixels. */
export const REACH = 4;

const SHAPES: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z`, // a disc
  (x, y) => `M${x - 3} ${y - 3}h6v6h-6Z`, // a square
  (x, y) => `M${x} ${y - 4}l4 7h-8Z`, // a triangle
  (x, y) => `M${x} ${y - 4}l4 4l-4 4l-4-4Z`, // a diamond
  (x, y) => `M${x - 1} ${y - 4}h2v3h3v2h-3v3h-2v-3h-3v-2h3Z`, // a cross
  (x, y) => `M${x} ${y + 4}l4-7h-8Z`, // a triangle that stands on its tip
  (x, y) => `M${x - 4} ${y - 1}h8v2h-8Z`, // a line
];

/** The shape of a style at a place, as a part of a path. */
export function shapeOf(style: number, x: number, y: number): string {
  const shape = SHAPES[(style - 1) % SHAPES.length] ?? (() => "");
  return shape(Math.round(x * 10) / 10, Math.round(y * 10) / 10);
}
