// The text of a memory.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count, number } from "../../components/basics";
import { beginning } from "./passage";

// A longer text is folded, so that the rest of the page can be reached. It is unfolded in steps: a text of a MiB as one
// paragraph takes a browser some time.
const SHOWN = 6_000;
const STEP = 8;

export function Text({ memory: { content, token_count } }: { memory: models.Node }): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  const isWhole = content.length <= shown;
  return (
    <section class="card memory-text" aria-labelledby="text-title">
      <div class="row memory-heading">
        <h2 id="text-title">Text</h2>
        <span class="small muted">
          {count(content.length, "character")} · {count(token_count, "token")}
        </span>
      </div>
      <p class="stored">{beginning(content, shown)}</p>
      {content.length > SHOWN && (
        <p>
          <button type="button" class="button" onClick={() => setShown(isWhole ? SHOWN : shown * STEP)}>
            {isWhole ? "Show less" : `Show more than the first ${number(shown)} characters`}
          </button>
        </p>
      )}
    </section>
  );
}
