// A field for a tag, which proposes those that there are.

import type { JSX } from "preact";
import { useId, useMemo } from "preact/hooks";
import { useHere } from "./here";
import { wantedIn, type Tree } from "./tree";

const PROPOSED = 40;

interface Properties {
  label: string;
  value: string;
  set: (value: string) => void;
  /** Is not proposed. */
  except?: readonly string[];
  hasFocus?: boolean;
  placeholder?: string;
}

export function TagField({ label, value, set, except, hasFocus, placeholder }: Properties): JSX.Element {
  const { tree } = useHere();
  const list = useId();
  const proposed = useMemo(() => proposals(tree, value, except ?? []), [tree, value, except?.join()]);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input mono"
        list={list}
        value={value}
        autofocus={hasFocus === true}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <datalist id={list}>
        {proposed.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </label>
  );
}

/** The tags with the text in their path, the most used first. */
function proposals(tree: Tree, text: string, except: readonly string[]): string[] {
  const wanted = wantedIn(text);
  return [...tree.byPath.values()]
    .filter(({ path }) => path.includes(wanted) && path !== wanted && !except.includes(path))
    .sort((a, b) => b.use.total - a.use.total)
    .slice(0, PROPOSED)
    .map(({ path }) => path);
}
