// Search: which memories answer, and why.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { address, go, queryNow, usePlace } from "../router";
import { Filters } from "./search/filters";
import { Results } from "./search/results";
import { read, written, type Setter } from "./search/query";
import { useTyping } from "./search/typing";
import "./search/search.css";

const STRATEGIES = ["auto", "hybrid", "vector", "fulltext"] as const;
const COMPARED = ["hybrid", "vector", "fulltext"] as const;

// Narrow screens have no room for the hint of the key, and touch screens no keys.
const HAS_KEYS = "(hover: hover) and (min-width: 600px)";

export function Search(): JSX.Element {
  const place = usePlace();
  const query = read(place.query);
  const box = useRef<HTMLInputElement>(null);
  // Whether somebody has pressed Enter, to go to the first hit. It may not be here yet.
  const [isHitWanted, setHitWanted] = useState(false);
  const replaceable: Setter = (change, replace = false) =>
    go(address("/", written({ ...read(queryNow()), ...change })), { replace });
  const { typed, type, submit, change: set } = useTyping(query, replaceable);

  // On a page that has just been opened, or after a sign-in. Elsewhere, the focus is at what somebody came by.
  useEffect(() => {
    if (document.activeElement === document.body) box.current?.focus({ preventScroll: true });
  }, []);
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
          submit();
          setHitWanted(true);
        }}
      >
        <label>
          <span class="hidden-label">Search the memories</span>
          <input
            ref={box}
            class="input search-box"
            type="search"
            placeholder={`What do we know about …?${matchMedia(HAS_KEYS).matches ? "   (press / to come here)" : ""}`}
            value={typed}
            autocomplete="off"
            onInput={(event) => {
              type(event.currentTarget.value);
              setHitWanted(false);
            }}
          />
        </label>
        {/* Without it, Enter does not submit a form of several fields. */}
        <button type="submit" class="hidden-label" tabIndex={-1}>
          Search
        </button>
        <Filters query={query} strategies={STRATEGIES} set={set} />
      </form>
      <div class={query.isCompared ? "compared" : ""}>
        {strategies.map((strategy, index) => (
          <Results
            key={strategy}
            query={{ ...query, strategy }}
            isTitled={query.isCompared}
            isHitWanted={isHitWanted && index === 0}
            hitFound={() => setHitWanted(false)}
            set={set}
          />
        ))}
      </div>
    </div>
  );
}
