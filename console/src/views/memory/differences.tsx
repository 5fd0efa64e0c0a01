// The differences of two texts, marked.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, number } from "../../components/basics";
import { differences, wordsOf, type Part } from "./diff";

// The characters that are shown before and after what is folded.
const AROUND: Record<Part["kind"], number> = { same: 240, added: 1_500, removed: 1_500 };
const STEP = 8;

interface Properties {
  before: string;
  after: string;
}

export function Differences({ before, after }: Properties): JSX.Element {
  const [times, setTimes] = useState(1);
  const parts = useMemo(() => differences(before, after), [before, after]);
  const folded = useMemo(() => folds(parts, times), [parts, times]);
  const isFolded = folded.some(({ hidden }) => hidden > 0);
  return (
    <div class="memory-differences">
      <p class="small muted">
        {count(wordsOf(parts, "added"), "word")} added (underlined), {count(wordsOf(parts, "removed"), "word")} removed
        (struck out).
      </p>
      <p class="stored" role="region" aria-label="Differences" tabIndex={0}>
        {folded.map((part, index) => (
          <Marked key={index} part={part} />
        ))}
      </p>
      {(isFolded || times > 1) && (
        <p>
          <button type="button" class="button" onClick={() => setTimes(isFolded ? times * STEP : 1)}>
            {isFolded ? "Show more" : "Show less"}
          </button>
        </p>
      )}
    </div>
  );
}

interface Shown extends Part {
  /** Characters that stand in place of this part, and are not shown. */
  hidden: number;
}

/** The parts with the middle of long ones left out. `times`: how much more than at first is shown of them. */
function folds(parts: readonly Part[], times: number): Shown[] {
  return parts.flatMap(({ kind, text }, index): Shown[] => {
    const around = AROUND[kind] * times;
    if (text.length <= 3 * around) return [{ kind, text, hidden: 0 }];
    // Nothing has changed before the first part, and after the last one.
    const head = kind === "same" && index === 0 ? "" : upTo(text, around);
    const tail = kind === "same" && index === parts.length - 1 ? "" : since(text, text.length - around);
    const hidden = text.length - head.length - tail.length;
    return [
      { kind, text: head, hidden: 0 },
      { kind, text: "", hidden },
      { kind, text: tail, hidden: 0 },
    ];
  });
}

// How far the next space is looked for.
const WORD = 60;

// Texts are cut at spaces where there are some, so that neither words nor letters are torn.
function upTo(text: string, end: number): string {
  const space = text.slice(end - WORD, end).search(/\s\S*$/);
  return text.slice(0, space < 0 ? end : end - WORD + space + 1);
}

function since(text: string, from: number): string {
  const space = text.slice(from, from + WORD).search(/\s/);
  return text.slice(space < 0 ? from : from + space);
}

const FOLDED: Record<Part["kind"], string> = { same: "stayed", added: "more were added", removed: "more were removed" };

function Marked({ part: { kind, text, hidden } }: { part: Shown }): JSX.Element {
  if (hidden > 0) return <span class="memory-folded">{` … ${number(hidden)} characters ${FOLDED[kind]} … `}</span>;
  if (kind === "added") return <ins>{text}</ins>;
  if (kind === "removed") return <del>{text}</del>;
  return <>{text}</>;
}
