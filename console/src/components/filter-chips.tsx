// What a view is narrowed to, as chips, and fields that narrow it.

import type { ComponentChildren, JSX } from "preact";
import { useId, useMemo, useState } from "preact/hooks";
import { useNamespace } from "../router";
import { htm, useAnswer } from "../server";
import { useEntered } from "./entered";
import "./filter-chips.css";

// More names than these are of no help: one types on.
const PROPOSED = 50;

const KNOWN_TIMES = ["today", "yesterday", "last 3 days", "this week", "last week", "this month", "last month", "this year"];

/** What was chosen, with a button that removes it. */
export function Chosen({ text, remove }: { text: string; remove: () => void }): JSX.Element {
  return (
    <span class="chip">
      <bdi>{text}</bdi>
      <button type="button" class="remove" aria-label={`Remove ${text}`} onClick={remove}>
        ×
      </button>
    </span>
  );
}

interface NamesProperties {
  noun: string;
  names: readonly string[];
  set: (names: string[]) => void;
}

/** The names that were chosen of a kind. */
export function ChosenNames({ noun, names, set }: NamesProperties): JSX.Element {
  return (
    <>
      {names.map((name) => (
        <Chosen key={name} text={`${noun}: ${name}`} remove={() => set(names.filter((other) => other !== name))} />
      ))}
    </>
  );
}

/** The names with another one at the end, unless it is among them. */
export function added(names: readonly string[], name: string): string[] {
  return [...new Set([...names, name])];
}

interface AddProperties {
  noun: string;
  /** The names that there are. They are asked for once somebody comes to the field. None: it may be any name. */
  known?: (namespace: string | undefined, signal: AbortSignal) => Promise<readonly string[]>;
  onAdd: (name: string) => void;
}

/** A field for a name. Of the known names, those with the typed text are proposed. */
export function AddName({ noun, known, onAdd }: AddProperties): JSX.Element {
  const [text, setText] = useState("");
  const [isAsked, setAsked] = useState(false);
  const list = useId();
  const namespace = useNamespace();
  const names = useAnswer(async (signal) => (isAsked && known ? known(namespace, signal) : []), [isAsked, namespace]);
  const proposed = useMemo(() => fitting(names.value ?? [], text), [names.value, text]);
  const add = (name: string): void => {
    if (name.trim()) onAdd(name.trim());
    setText("");
  };
  return (
    <label>
      <span class="hidden-label">Add a {noun}</span>
      <input
        class="input short"
        placeholder={`+ ${noun}`}
        list={list}
        value={text}
        autocomplete="off"
        onFocus={() => setAsked(true)}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => add(event.currentTarget.value)}
        onKeyDown={(event) => {
          // An input method ends a word with Enter, and goes on.
          if (event.key !== "Enter" || event.isComposing) return;
          event.preventDefault();
          add(event.currentTarget.value);
        }}
      />
      <Proposals id={list} names={proposed} />
    </label>
  );
}

interface TimeProperties {
  words: string;
  placeholder: string;
  /** A phrase beside the usual ones, and what it means. */
  also?: { words: string; meaning: string };
  set: (words: string) => void;
}

/** A field for a time in words. */
export function TimeWords({ words, placeholder, also, set }: TimeProperties): JSX.Element {
  const list = useId();
  const field = useEntered(words, (text) => set(text.trim()));
  return (
    <label>
      <span class="hidden-label">Timeframe</span>
      <input {...field} class="input short time-words" placeholder={placeholder} list={list} autocomplete="off" />
      <Proposals id={list} names={KNOWN_TIMES}>
        {also && <option value={also.words}>{also.meaning}</option>}
      </Proposals>
    </label>
  );
}

function Proposals({ id, names, children }: { id: string; names: readonly string[]; children?: ComponentChildren }): JSX.Element {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
      {children}
    </datalist>
  );
}

function fitting(names: readonly string[], text: string): string[] {
  const wanted = text.trim().toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(wanted)).slice(0, PROPOSED);
}

/** The tags of a namespace. */
export async function knownTags(namespace: string | undefined, signal: AbortSignal): Promise<string[]> {
  return (await htm.tags.list({ namespace, limit: 10_000 }, { signal })).tags.map(({ tag }) => tag);
}

/** The robots of a namespace. */
export async function knownRobots(namespace: string | undefined, signal: AbortSignal): Promise<string[]> {
  return (await htm.robots.list({ namespace, limit: 1_000 }, { signal })).robots.map(({ name }) => name);
}
