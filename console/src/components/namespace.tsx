// The namespace that the views look at, and fields for one.

import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { address, go, useNamespace, usePlace } from "../router";
import { useUser } from "./sign-in";
import { htm, useAnswer } from "../server";
import { number } from "./basics";

// The most that the server lists at once.
const MOST = 10_000;

// How somebody looks stays in another namespace. What is looked at (a tag, a robot, a session, a place in a list) does not:
// it is of the former one.
const KEPT = ["q", "strategy", "compare", "time", "by", "sort", "part", "tab", "queue", "state", "error", "one", "other"];

interface Listed {
  names: readonly string[];
  hasOthers: boolean;
}

function useListed(): Listed {
  const { value } = useAnswer((signal) => htm.namespaces.list({ limit: MOST }, { signal }), []);
  return { names: value?.namespaces ?? [], hasOthers: Boolean(value?.next) };
}

interface Namespaces extends Listed {
  /** An option that says that there are others. */
  others: JSX.Element | false;
}

/** The namespaces to choose from, where the address names the chosen one. */
export function useNamespaces(): Namespaces {
  const { names, hasOthers } = useListed();
  const others = hasOthers && <option disabled>Only the first {number(MOST)} are listed. The address can name others.</option>;
  return { names, hasOthers, others };
}

interface FieldProperties {
  value: string;
  set: (value: string) => void;
  required?: boolean;
  autofocus?: boolean;
  placeholder?: string;
}

/** A field for a namespace, which proposes those that there are. */
export function NamespaceField({ value, set, ...rest }: FieldProperties): JSX.Element {
  const list = useId();
  const { names, hasOthers } = useListed();
  return (
    <label class="field">
      <span>Namespace</span>
      <input
        {...rest}
        class="input"
        list={list}
        value={value}
        autocomplete="off"
        onInput={(event) => set(event.currentTarget.value)}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {hasOthers && <span class="small muted">Only the first {number(MOST)} are proposed. Others can be typed.</span>}
    </label>
  );
}

export function NamespacePicker(): JSX.Element {
  const chosen = useNamespace();
  const { path, query } = usePlace();
  const own = useUser().namespace;
  const { names, others } = useNamespaces();
  const offered = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <label>
      <span class="hidden-label">Namespace</span>
      <select
        class="input"
        value={chosen === own ? "" : (chosen ?? "")}
        onChange={(event) => go(placeIn(event.currentTarget.value, path, query))}
      >
        <option value="">{own}</option>
        {offered.filter((name) => name !== own).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        {others}
      </select>
    </label>
  );
}

/** The place in another namespace. A memory is in one namespace only. */
export function placeIn(namespace: string, path: string, query: URLSearchParams): string {
  if (path.startsWith("/console/memories/")) return address("/", { namespace });
  return address(path, { ...Object.fromEntries(KEPT.map((name) => [name, query.get(name)])), namespace });
}
