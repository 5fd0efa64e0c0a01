// A field of a line.

import type { JSX } from "preact";

interface Properties {
  label: string;
  value: string;
  set: (value: string) => void;
  isTag?: boolean;
  hasFocus?: boolean;
}

export function TextField({ label, value, set, isTag, hasFocus }: Properties): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class={`input ${isTag ? "mono" : ""}`}
        value={value}
        autofocus={hasFocus === true}
        autocomplete="off"
        spellcheck={!isTag}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}
