// The fields of what contexts are asked for.

import type { JSX } from "preact";
import { useEntered } from "../../components/entered";
import { useFollowed } from "../../components/followed";
import { go } from "../../router";
import { HITS, MAX_TOKENS, MOST_HITS, MOST_TOKENS, SEPARATOR, escaped, isFiltered, unescaped, type ContextQuery } from "./context-query";
import { here } from "./places";

const REST_MS = 300;

export function ContextFields({ query, robot }: { query: ContextQuery; robot: string }): JSX.Element {
  const { typed, type, follow } = useFollowed(query.text, (q) => set({ q }), { restMs: REST_MS });
  return (
    <form
      class="stack close"
      onSubmit={(event) => {
        event.preventDefault();
        follow();
      }}
    >
      <label class="field">
        <span class="stored">A question for {robot}; empty: its working memory alone</span>
        <input
          class="input"
          type="search"
          value={typed}
          autocomplete="off"
          placeholder="Which database did we choose?"
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      <div class="row context-fields">
        <NumberField label="At most tokens" value={query.maxTokens} plain={MAX_TOKENS} most={MOST_TOKENS} name="tokens" />
        <label class="row choice">
          <input type="checkbox" checked={query.header} onChange={(event) => set({ header: event.currentTarget.checked ? "yes" : null })} />
          <span>A header for each memory, with its age and source</span>
        </label>
      </div>
      <details open={isFiltered(query) || query.separator !== SEPARATOR || query.hits !== HITS}>
        <summary>More options</summary>
        <div class="row context-fields">
          <TextField
            label="Between two memories (\n: a new line)"
            value={escaped(query.separator)}
            change={(text) => set({ separator: unescaped(text) === SEPARATOR || text === "" ? null : unescaped(text).slice(0, 1_024) })}
          />
          <NumberField label="At most memories by the question" value={query.hits} plain={HITS} most={MOST_HITS} name="hits" />
          <label class="field">
            <span>Least importance</span>
            <select class="input" value={query.importance} onChange={(event) => set({ importance: event.currentTarget.value })}>
              <option value="">Any</option>
              {[2, 3, 4, 5, 6, 7, 8, 9, 10].map((level) => (
                <option key={level} value={level}>
                  {level}
                </option>
              ))}
            </select>
          </label>
          <TextField label="Only of the type" value={query.type} change={(text) => set({ type: text.trim() })} hint="decision" />
          <TextField label="Only with the tag" value={query.tag} change={(text) => set({ tag: text.trim() })} hint="database:postgresql" />
          <TextField label="Only of the time" value={query.time} change={(text) => set({ time: text.trim() })} hint="last month" />
        </div>
      </details>
    </form>
  );
}

function set(change: Record<string, string | number | null>): void {
  go(here(change), { replace: "q" in change });
}

interface TextProperties {
  label: string;
  value: string;
  hint?: string;
  change: (text: string) => void;
}

function TextField({ label, value, hint, change }: TextProperties): JSX.Element {
  const field = useEntered(value, change);
  return (
    <label class="field">
      <span>{label}</span>
      <input {...field} class="input" placeholder={hint} />
    </label>
  );
}

interface NumberProperties {
  label: string;
  value: number;
  /** What it is unless somebody says otherwise. */
  plain: number;
  most: number;
  name: string;
}

function NumberField({ label, value, plain, most, name }: NumberProperties): JSX.Element {
  const field = useEntered(String(value), (text) => set({ [name]: text === "" || Number(text) === plain ? null : text }));
  return (
    <label class="field">
      <span>{label}</span>
      <input {...field} class="input mind-number" type="number" inputMode="numeric" min={1} max={most} step={1} />
    </label>
  );
}
