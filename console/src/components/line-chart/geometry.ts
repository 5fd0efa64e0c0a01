// Where the points of a line chart are.

export interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
  steps: number;
  /** The value at the top. */
  max: number;
}

/** The end of an axis that is a round number, at least a value and at least 2, so that its half is a whole number. */
export function scaleOf(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(2, value)));
  return Math.max(2, [1, 2, 3, 4, 6, 8, 10].map((factor) => factor * power).find((top) => top >= value) ?? value);
}

/** The path of a line. It is broken where a value is not known; a value alone is a short dash. */
export function pathOf(values: readonly (number | null)[], plot: Plot): string {
  const x = (step: number): number => plot.left + ((plot.right - plot.left) * step) / Math.max(1, plot.steps - 1);
  const y = (value: number): number => plot.bottom - ((plot.bottom - plot.top) * value) / plot.max;
  return values
    .map((value, step) => {
      if (value === null) return "";
      const isKnown = (step: number): boolean => typeof values[step] === "number";
      if (!isKnown(step - 1) && !isKnown(step + 1)) return `M${(x(step) - 2).toFixed(1)} ${y(value).toFixed(1)}h4`;
      return `${isKnown(step - 1) ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
}
