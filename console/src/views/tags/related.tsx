// Tags that stand near another: on the same memories, or with a similar name.

import type { JSX } from "preact";
import { Awaited, count } from "../../components/basics";
import { Link } from "../../router";
import { htm, useAnswer } from "../../server";
import { useHere } from "./here";
import { toTag } from "./places";

const SHOWN = 10;

export function UsedTogether({ tag }: { tag: string }): JSX.Element {
  const { namespace, version } = useHere();
  const answer = useAnswer(
    (signal) => htm.tags.cooccurring({ tag, namespace, min_memories: 1, limit: SHOWN }, { signal }),
    [tag, namespace, version],
  );
  return (
    <section aria-label="Used together">
      <h3>Used together with it</h3>
      <Awaited answer={answer}>
        {(pairs) =>
          pairs.length === 0 ? (
            <p class="small muted">No memory has this tag and another one.</p>
          ) : (
            <ul class="tag-near">
              {pairs.map((pair) => {
                const other = pair.tag === tag ? pair.other : pair.tag;
                return (
                  <li key={other}>
                    <Link class="stored" to={toTag(other)}>
                      {other}
                    </Link>
                    <span class="small muted">{count(pair.nodes, "memory has", "memories have")} both</span>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Awaited>
    </section>
  );
}

export function SimilarTags({ tag }: { tag: string }): JSX.Element {
  const { namespace, version, ask } = useHere();
  const answer = useAnswer(
    async (signal) => {
      const found = await htm.tags.similar({ q: tag, namespace, limit: SHOWN + 1 }, { signal });
      return found.filter((it) => it.tag !== tag).slice(0, SHOWN);
    },
    [tag, namespace, version],
  );
  return (
    <section aria-label="Similar names">
      <h3>Similar names</h3>
      <Awaited answer={answer}>
        {(similar) =>
          similar.length === 0 ? (
            <p class="small muted">No other tag has a similar name.</p>
          ) : (
            <ul class="tag-near">
              {similar.map((it) => (
                <li key={it.tag}>
                  <Link class="stored" to={toTag(it.tag)}>
                    {it.tag}
                  </Link>
                  {ask && !tag.startsWith(`${it.tag}:`) && (
                    <button
                      type="button"
                      class="button small tag-small"
                      onClick={() => ask({ act: "merge", from: [it.tag], into: tag })}
                    >
                      Merge …<span class="hidden-label"> {it.tag} with this tag</span>
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Awaited>
    </section>
  );
}
