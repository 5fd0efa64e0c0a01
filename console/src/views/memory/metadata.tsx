// Metadata as a tree.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count } from "../../components/basics";
import { isRounded } from "./draft";

// Entries of one list or object that are shown at once.
const SHOWN = 40;

// Levels that are open at first, of lists and objects that are not longer than this.
const OPEN_LEVELS = 2;
const OPEN_ENTRIES = 12;

export function MetadataTree({ value }: { value: unknown }): JSX.Element {
  const entries = entriesOf(value) ?? [];
  return entries.length === 0 ? <p class="muted small">None.</p> : <Entries entries={entries} level={0} />;
}

type Entry = readonly [name: string, value: unknown];

/** What a list or an object holds; none for any other value. */
function entriesOf(value: unknown): Entry[] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}

function Entries({ entries, level }: { entries: Entry[]; level: number }): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  return (
    <ul class={level === 0 ? "memory-tree" : "memory-tree memory-nested"}>
      {entries.slice(0, shown).map(([name, value]) => (
        <li key={name}>
          <Branch name={name} value={value} level={level} />
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" class="button" onClick={() => setShown(shown * 2)}>
            Show more of {count(entries.length, "entry", "entries")}
          </button>
        </li>
      )}
    </ul>
  );
}

function Branch({ name, value, level }: { name: string; value: unknown; level: number }): JSX.Element {
  const entries = entriesOf(value);
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS && (entries?.length ?? 0) <= OPEN_ENTRIES);
  if (entries === undefined || entries.length === 0) {
    return (
      <>
        <span class="stored memory-entry">{name}</span>: <Leaf value={value} />
      </>
    );
  }
  const size = Array.isArray(value) ? count(entries.length, "item") : count(entries.length, "entry", "entries");
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="stored memory-entry">{name}</span> <span class="muted small">{size}</span>
      </summary>
      {isOpen && <Entries entries={entries} level={level + 1} />}
    </details>
  );
}

/** A value without parts. A text stands in quotes, so that it is told from a number. */
function Leaf({ value }: { value: unknown }): JSX.Element {
  if (typeof value === "string") return <span class="stored">“{value}”</span>;
  if (typeof value === "number" && isRounded(value)) {
    return (
      <code title="This page rounds integers beyond 2⁵³. The memory has the exact one.">
        ≈ {value.toExponential().replace("+", "")}
      </code>
    );
  }
  if (typeof value !== "object") return <code>{String(value)}</code>;
  return (
    <span class="muted">{value === null ? "null" : Array.isArray(value) ? "an empty list" : "nothing in it"}</span>
  );
}
