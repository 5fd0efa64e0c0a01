// Beginnings of texts.

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

// The characters around the end that are looked at: the time of a segmenter grows with the square of the length.
const LOOKED_AT = 100;

/** The beginning of a text. What people see as one letter is not cut. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const from = Math.max(0, most - LOOKED_AT);
  let end = from;
  for (const { index, segment } of graphemes.segment(text.slice(from, most + LOOKED_AT))) {
    if (from + index + segment.length > most) break;
    end = from + index + segment.length;
  }
  return `${text.slice(0, end)}…`;
}

/** The first words of a text, on one line: a title. */
export function firstWords(text: string, most = 72): string {
  const line = text
    .slice(0, 10 * most)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= most) return line;
  const cut = beginning(line, most);
  const lastSpace = cut.lastIndexOf(" ");
  return lastSpace > most / 2 ? `${cut.slice(0, lastSpace).replace(/[\s.,;:–—-]+$/, "")}…` : cut;
}
