// The words by which two texts differ.

export interface Part {
  kind: "same" | "added" | "removed";
  text: string;
}

// Longer texts are compared line by line: nobody reads their words one by one.
const MOST_FOR_WORDS = 200_000;

// The most differences for which the shortest way from one text to the other is sought. Its cost grows with the square.
const MOST_STEPS = 250;

// A line break, a run of spaces, a flag, an emoji, a word, or one letter with its marks where words have no spaces
// between them. `Intl.Segmenter` knows more of languages, but its time grows with the square of the text's length.
const SCRIPTS = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
const UNSPACED = `[${SCRIPTS.map((script) => String.raw`\p{Script=${script}}`).join("")}]`;
const LETTERS = String.raw`(?:(?!${UNSPACED})[\p{L}\p{M}\p{N}_])+`;
const EMOJI = String.raw`\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}]*`;
const WORD = new RegExp(
  [
    String.raw`\n|[^\S\n]+`,
    String.raw`\p{Regional_Indicator}{2}`,
    String.raw`${EMOJI}(?:\u200d${EMOJI})*`,
    `${LETTERS}(?:['’]${LETTERS})*`,
    String.raw`.\p{M}*`,
  ].join("|"),
  "gsu",
);

type Pair = readonly [before: number, after: number];

/** A stretch of each text, by the numbers of its words; the ends are not in it. */
interface Stretch {
  from: number;
  to: number;
  otherFrom: number;
  otherTo: number;
}

/**
 * The parts of both texts in their order: what stayed and what was removed are the former text, what stayed and what
 * was added the latter. It takes no longer than a moment, whatever the texts are.
 */
export function differences(before: string, after: string): Part[] {
  const isByWords = Math.max(before.length, after.length) <= MOST_FOR_WORDS;
  const [former, latter] = [split(before, isByWords), split(after, isByWords)];
  const numbers = new Map<string, number>();
  const numbered = (texts: string[]): Int32Array =>
    Int32Array.from(texts, (text) => {
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    });
  return joined(former, latter, matched(numbered(former), numbered(latter)));
}

function split(text: string, isByWords: boolean): string[] {
  return text.match(isByWords ? WORD : /[^\n]*\n|[^\n]+/g) ?? [];
}

/** The pairs of equal words, in the order of both texts. */
function matched(a: Int32Array, b: Int32Array): Pair[] {
  const pairs: Pair[] = [];
  const open: Stretch[] = [{ from: 0, to: a.length, otherFrom: 0, otherTo: b.length }];
  for (let stretch = open.pop(); stretch; stretch = open.pop()) {
    const rest = trimmed(a, b, stretch, pairs);
    if (rest.from === rest.to || rest.otherFrom === rest.otherTo) continue;
    const shortest = shortestWay(a.subarray(rest.from, rest.to), b.subarray(rest.otherFrom, rest.otherTo));
    if (shortest) for (const [x, y] of shortest) pairs.push([x + rest.from, y + rest.otherFrom]);
    else open.push(...between(rest, anchors(a, b, rest), pairs));
  }
  return pairs.sort(([x], [y]) => x - y);
}

/** The stretch without the equal words at its ends. */
function trimmed(a: Int32Array, b: Int32Array, { from, to, otherFrom, otherTo }: Stretch, pairs: Pair[]): Stretch {
  while (from < to && otherFrom < otherTo && a[from] === b[otherFrom]) pairs.push([from++, otherFrom++]);
  while (from < to && otherFrom < otherTo && a[to - 1] === b[otherTo - 1]) pairs.push([--to, --otherTo]);
  return { from, to, otherFrom, otherTo };
}

/** The equal words on the shortest way (Myers, 1986); none if it is longer than `MOST_STEPS`. */
function shortestWay(a: Int32Array, b: Int32Array): Pair[] | undefined {
  const most = Math.min(a.length + b.length, MOST_STEPS);
  const middle = most + 1;
  const reached = new Int32Array(2 * middle + 1);
  const former: Int32Array[] = [];
  for (let steps = 0; steps <= most; steps += 1) {
    former.push(reached.slice(middle - steps - 1, middle + steps + 2));
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let x = start(reached, middle, diagonal, steps);
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      reached[middle + diagonal] = x;
      if (x >= a.length && y >= b.length) return wayBack(former, a.length, b.length);
    }
  }
  return undefined;
}

/** Where a diagonal is entered: by a removed word from the left, or by an added one from the right. */
function start(reached: Int32Array, middle: number, diagonal: number, steps: number): number {
  const left = reached[middle + diagonal - 1] ?? 0;
  const right = reached[middle + diagonal + 1] ?? 0;
  return isByAdded(left, right, diagonal, steps) ? right : left + 1;
}

function isByAdded(left: number, right: number, diagonal: number, steps: number): boolean {
  return diagonal === -steps || (diagonal !== steps && left < right);
}

function wayBack(former: Int32Array[], endX: number, endY: number): Pair[] {
  const pairs: Pair[] = [];
  let [x, y] = [endX, endY];
  for (let steps = former.length - 1; steps >= 0; steps -= 1) {
    const reached = former[steps] ?? new Int32Array();
    const [diagonal, middle] = [x - y, steps + 1];
    const left = reached[middle + diagonal - 1] ?? 0;
    const right = reached[middle + diagonal + 1] ?? 0;
    const isAdded = isByAdded(left, right, diagonal, steps);
    const fromX = steps === 0 ? 0 : isAdded ? right : left;
    const fromY = steps === 0 ? 0 : fromX - (diagonal + (isAdded ? 1 : -1));
    while (x > fromX && y > fromY) pairs.push([--x, --y]);
    [x, y] = [fromX, fromY];
  }
  return pairs;
}

/** The words that stand once in each stretch, as many as have the same order in both. */
function anchors(a: Int32Array, b: Int32Array, { from, to, otherFrom, otherTo }: Stretch): Pair[] {
  const places = onlyPlaces(a, from, to);
  const common: Pair[] = [];
  for (const [word, other] of onlyPlaces(b, otherFrom, otherTo)) {
    const place = places.get(word);
    if (place !== undefined && place >= 0 && other >= 0) common.push([place, other]);
  }
  return longestRise(common.sort(([x], [y]) => x - y));
}

/** The place of each word; −1 if it has several. */
function onlyPlaces(words: Int32Array, from: number, to: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let place = from; place < to; place += 1) {
    const word = words[place] ?? -1;
    places.set(word, places.has(word) ? -1 : place);
  }
  return places;
}

/** The longest list of these pairs in which the second numbers rise too. */
function longestRise(pairs: Pair[]): Pair[] {
  const ends: { pair: Pair; length: number; before: Link | undefined }[] = [];
  for (const pair of pairs) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.pair[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    ends[low] = { pair, length: low + 1, before: ends[low - 1] };
  }
  const rise: Pair[] = [];
  for (let link: Link | undefined = ends.at(-1); link; link = link.before) rise.push(link.pair);
  return rise.reverse();
}

interface Link {
  pair: Pair;
  before: Link | undefined;
}

/** What is left between the anchors; nothing without anchors. */
function between(stretch: Stretch, anchors: Pair[], pairs: Pair[]): Stretch[] {
  if (anchors.length === 0) return [];
  for (const anchor of anchors) pairs.push(anchor);
  let [from, otherFrom] = [stretch.from, stretch.otherFrom];
  return [...anchors, [stretch.to, stretch.otherTo] as const].map(([to, otherTo]) => {
    const gap = { from, to, otherFrom, otherTo };
    [from, otherFrom] = [to + 1, otherTo + 1];
    return gap;
  });
}

function joined(former: string[], latter: string[], pairs: Pair[]): Part[] {
  const parts: Part[] = [];
  let [x, y, same] = [0, 0, ""];
  const push = (kind: Part["kind"], text: string): void => void (text && parts.push({ kind, text }));
  for (const [before, after] of [...pairs, [former.length, latter.length] as const]) {
    if (before > x || after > y) {
      push("same", same);
      same = "";
      push("removed", former.slice(x, before).join(""));
      push("added", latter.slice(y, after).join(""));
    }
    same += former[before] ?? "";
    [x, y] = [before + 1, after + 1];
  }
  push("same", same);
  return withoutGaps(parts);
}

/** Joins changes that only white space separates: a rewritten sentence is one change, and not one for each word. */
function withoutGaps(parts: Part[]): Part[] {
  const result: Part[] = [];
  let change = { removed: "", added: "" };
  const flush = (): void => {
    for (const kind of ["removed", "added"] as const) if (change[kind]) result.push({ kind, text: change[kind] });
    change = { removed: "", added: "" };
  };
  parts.forEach(({ kind, text }, index) => {
    const isInChange = index > 0 && index < parts.length - 1;
    if (kind !== "same") change[kind] += text;
    else if (isInChange && /^[^\S\n]+$/.test(text))
      change = { removed: change.removed + text, added: change.added + text };
    else {
      flush();
      result.push({ kind, text });
    }
  });
  flush();
  return result;
}

/** The number of words, in the parts of a kind. */
export function wordsOf(parts: readonly Part[], kind: Part["kind"]): number {
  return parts
    .filter((part) => part.kind === kind)
    .reduce((sum, { text }) => sum + (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0), 0);
}
