// Search: which memories answer, and why.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { address, go, usePlace } from "../router";
import { Filters } from "./search/filters";
import { Results } from "./search/results";
import { read, written, type Query } from "./search/query";
import "./search/search.css";

// While somebody types, an answer is asked for when the fingers rest.
const REST_MS = 180;

const STRATEGIES = ["auto", "hybrid", "vector", "fulltext"] as const;
const COMPARED = ["hybrid", "vector", "fulltext"] as const;

export function Search(): JSX.Element {
  const place = usePlace();
  const query = read(place.query);
  const [typed, setTyped] = useState(query.text);
  const box = useRef<HTMLInputElement>(null);
  const set = (change: Partial<Query>, replace = false): void =>
    go(address("/", written({ ...read(new URLSearchParams(location.search)), ...change })), { replace });

  // Back and forward change what stands in the box.
  useEffect(() => setTyped(query.text), [query.text]);
  useEffect(() => {
    if (typed === query.text) return undefined;
    const timer = setTimeout(() => set({ text: typed }, true), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    const focusBox = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      box.current?.focus();
      box.current?.select();
    };
    addEventListener("keydown", focusBox);
    return () => removeEventListener("keydown", focusBox);
  }, []);

  const strategies = query.isCompared ? COMPARED : ([query.strategy] as const);
  return (
    <div class="stack search">
      <h1 class="hidden-label">Search</h1>
      <form
        role="search"
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          set({ text: typed });
          document.querySelector<HTMLElement>(".hit-link")?.focus();
        }}
      >
        <label>
          <span class="hidden-label">Search the memories</span>
          <input
            ref={box}
            class="input search-box"
            type="search"
            placeholder="What do we know about …?   (press / to come here)"
            value={typed}
            autofocus
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        {/* Without it, Enter does not submit a form of several fields. */}
        <button type="submit" class="hidden-label" tabIndex={-1}>
          Search
        </button>
        <Filters query={query} strategies={STRATEGIES} set={set} />
      </form>
      <div class={query.isCompared ? "compared" : ""}>
        {strategies.map((strategy) => (
          <Results key={strategy} query={{ ...query, strategy }} isTitled={query.isCompared} set={set} />
        ))}
      </div>
    </div>
  );
}
