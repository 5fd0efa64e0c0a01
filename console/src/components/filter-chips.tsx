// What a view is narrowed to, as chips, and fields that add one.

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { useAnswer } from "../server";
import "./filter-chips.css";

/** What was chosen, with a button that removes it. */
export function Chosen({ text, remove }: { text: string; remove: () => void }): JSX.Element {
  return (
    <span class="chip chosen">
      {text}
      <button type="button" class="remove" aria-label={`Remove ${text}`} onClick={remove}>
        ×
      </button>
    </span>
  );
}

interface AddProperties {
  noun: string;
  /** The names that fit what was typed. */
  propose: (text: string, signal: AbortSignal) => Promise<readonly string[]>;
  onAdd: (name: string) => void;
}

/** A field for a name. Names are proposed as somebody types. */
export function AddName({ noun, propose, onAdd }: AddProperties): JSX.Element {
  const [text, setText] = useState("");
  const names = useId();
  const proposed = useAnswer(async (signal) => (text ? propose(text, signal) : []), [text]);
  const add = (name: string): void => {
    if (name.trim()) onAdd(name.trim());
    setText("");
  };
  return (
    <label>
      <span class="hidden-label">Add a {noun}</span>
      <input
        class="input add-name"
        placeholder={`+ ${noun}`}
        list={names}
        value={text}
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => add(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          add(event.currentTarget.value);
        }}
      />
      <datalist id={names}>
        {proposed.value?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}
