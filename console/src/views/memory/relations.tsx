// The memories that a memory is related to: because somebody said so, or because their texts or tags are alike.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Time } from "../../components/basics";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";
import { firstWords } from "./passage";

// The memories of each kind.
const SHOWN = 5;
const MOST = 100;

const NAMES: Record<models.RelatedBy, string> = {
  superseded_by: "Superseded by",
  supersedes: "Supersedes",
  contradicts: "Contradicts",
  near_duplicate: "Almost the same text",
  shared_tags: "The same rare tags",
};

export function Relations({ memory }: { memory: models.Node }): JSX.Element {
  const [limit, setLimit] = useState(SHOWN);
  const answer = useAnswer(
    (signal) => htm.memories.related(memory.id, { limit }, { signal }),
    [memory.id, memory.revision, memory.tags.join(" "), limit],
  );
  return (
    <section class="card" aria-labelledby="relations-title">
      <h2 id="relations-title">Relations</h2>
      <Awaited answer={answer}>
        {({ related, not_searched }) => (
          <>
            {related.length === 0 ? (
              <p class="muted small">It is related to no other memory.</p>
            ) : (
              <ul class="memory-related">
                {related.map((other) => (
                  <Other key={`${other.by} ${other.node}`} other={other} />
                ))}
              </ul>
            )}
            {not_searched.map((reason) => (
              <p key={reason} class="muted small">
                {reason}
              </p>
            ))}
            {isCut(related, limit) && limit < MOST && (
              <p>
                <button type="button" class="button" onClick={() => setLimit(Math.min(MOST, limit * 4))}>
                  Show more
                </button>
              </p>
            )}
          </>
        )}
      </Awaited>
    </section>
  );
}

/** Whether some kind may have more memories than the limit. */
function isCut(related: readonly models.RelatedNode[], limit: number): boolean {
  const kinds = Object.keys(NAMES);
  return kinds.some((kind) => related.filter(({ by }) => by === kind).length >= limit);
}

function Other({ other }: { other: models.RelatedNode }): JSX.Element {
  return (
    <li>
      <span class="small muted">
        {NAMES[other.by]}
        {typeof other.similarity === "number" && ` · similarity ${other.similarity.toFixed(2)}`}
        {other.tags && other.tags.length > 0 && (
          <>
            {" · "}
            <span class="stored">{other.tags.join(", ")}</span>
          </>
        )}
        {other.made_at && (
          <>
            {" · "}
            <span class="stored">{other.made_by}</span>, <Time at={other.made_at} />
          </>
        )}
      </span>{" "}
      <Link class="stored" to={address(`/console/memories/${other.node}`)}>
        {firstWords(other.excerpt, 120)}
      </Link>
      {other.reason && <p class="small muted stored">{other.reason}</p>}
    </li>
  );
}
