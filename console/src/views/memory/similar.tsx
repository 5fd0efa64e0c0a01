// Memories of a similar meaning.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited } from "../../components/basics";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";
import { firstWords } from "./passage";

const SHOWN = 6;
const MOST = 100;

// Embedding models read no more of a text, and a query has a limit.
const READ = 4_000;

// The server said, in one of these ways, that nothing can embed the text.
const WITHOUT_MODEL: ReadonlySet<string> = new Set(["embedder_missing", "embedder_other", "model_not_ready"]);

/** The text as a query: the signs that have a meaning in queries are left out, so that only its words count. */
function asQuery(text: string): string {
  return text
    .slice(0, READ)
    .replace(/["“”„*]/g, " ")
    .replace(/(^|\s)[-−–]+(?=\S)/g, "$1");
}

export function Similar({ memory }: { memory: models.Node }): JSX.Element {
  const [limit, setLimit] = useState(SHOWN);
  const answer = useAnswer(
    async (signal) => {
      const body: models.RecallBody = {
        query: asQuery(memory.content),
        strategy: "vector",
        // The memory itself is a hit too.
        limit: limit + 1,
        count_accesses: false,
        correct: false,
        filter: { namespaces: [memory.namespace] },
      };
      const { hits } = await htm.recall.recall(body, { signal });
      return hits.filter(({ id }) => id !== memory.id).slice(0, limit);
    },
    [memory.id, memory.revision, memory.namespace, limit],
  );
  const isWithoutModel = answer.error !== undefined && WITHOUT_MODEL.has(answer.error.code);
  return (
    <section class="card" aria-labelledby="similar-title">
      <h2 id="similar-title">Similar memories</h2>
      {isWithoutModel ? (
        <p class="muted small">
          The server has no model at hand that reads the text for its meaning. {answer.error?.hint}
        </p>
      ) : (
        <Awaited answer={answer}>
          {(hits) => (
            <>
              {hits.length === 0 ? (
                <p class="muted small">The namespace has no other memory with a meaning that is known.</p>
              ) : (
                <Hits hits={hits} />
              )}
              {hits.length === limit && limit < MOST && (
                <p>
                  <button type="button" class="button" onClick={() => setLimit(Math.min(MOST, limit * 3))}>
                    Show more
                  </button>
                </p>
              )}
            </>
          )}
        </Awaited>
      )}
    </section>
  );
}

function Hits({ hits }: { hits: models.Hit[] }): JSX.Element {
  return (
    <ol class="memory-similar">
      {hits.map(({ id, content, scores }) => (
        <li key={id}>
          <span class="number small" title="How alike the meanings are: 1 is the same">
            <span class="hidden-label">Similarity </span>
            {(scores.similarity ?? scores.score).toFixed(2)}
          </span>
          <Link class="stored" to={address(`/console/memories/${id}`)}>
            {firstWords(content, 120)}
          </Link>
        </li>
      ))}
    </ol>
  );
}
