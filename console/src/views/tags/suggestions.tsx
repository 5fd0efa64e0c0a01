// Tags that may mean the same, as the server finds them.

import type { JSX, TargetedMouseEvent } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, count, number } from "../../components/basics";
import { say } from "../../components/toasts";
import { Link } from "../../router";
import { htm, useAnswer } from "../../server";
import { useFocusTaker } from "./focus";
import { useHere } from "./here";
import { toTag } from "./places";
import { useRefusals } from "./refusals";

const STEP = 50;
const MOST = 500;

export function Suggestions(): JSX.Element {
  const { namespace, version, ask } = useHere();
  const [limit, setLimit] = useState(STEP);
  const [showsRefused, setShowsRefused] = useState(false);
  const refusals = useRefusals(namespace);
  const answer = useAnswer(
    (signal) => htm.tags.suggestions({ namespace, limit }, { signal }),
    [namespace, version, limit],
  );
  const heading = useFocusTaker(answer.value);
  return (
    <section class="stack tags-part" aria-labelledby="suggestions-head" aria-busy={answer.isLoading}>
      <div>
        <h2 id="suggestions-head" tabIndex={-1} ref={heading}>
          Suggestions
        </h2>
        <p class="muted">
          Tags that may mean the same, by their names and by the memories that have them.
          {ask && " Merge them, or say that they differ: then they are hidden in this browser."}
          {answer.isLoading && " Comparing: with thousands of tags this can take a minute."}
        </p>
      </div>
      <Awaited answer={answer}>
        {(all) => {
          const shown = all.filter((it) => refusals.has(it) === showsRefused);
          const others = all.length - shown.length;
          return (
            <>
              {shown.length === 0 && (
                <Empty>
                  <p>{showsRefused ? "No suggestion is hidden." : "No tags look as if they meant the same."}</p>
                </Empty>
              )}
              <ul class="tag-suggestions">
                {shown.map((it) => (
                  <Card key={`${it.from} ${it.into}`} suggestion={it} isRefused={showsRefused} refuse={refusals.set} />
                ))}
              </ul>
              <p class="row">
                {all.length === limit && limit < MOST && (
                  <button
                    type="button"
                    class="button"
                    disabled={answer.isLoading}
                    onClick={() => setLimit(Math.min(MOST, limit + STEP))}
                  >
                    Show more
                  </button>
                )}
                {(showsRefused || others > 0) && (
                  <button type="button" class="button" onClick={() => setShowsRefused(!showsRefused)}>
                    {showsRefused ? "Back to the open ones" : `Show ${count(others, "hidden one")}`}
                  </button>
                )}
              </p>
            </>
          );
        }}
      </Awaited>
    </section>
  );
}

interface CardProperties {
  suggestion: models.Suggestion;
  isRefused: boolean;
  refuse: (suggestion: models.Suggestion, isRefused: boolean) => void;
}

function Card({ suggestion, isRefused, refuse }: CardProperties): JSX.Element {
  const { ask } = useHere();
  const { from, into, from_nodes, into_nodes } = suggestion;
  const toggle = ({ currentTarget }: TargetedMouseEvent<HTMLButtonElement>): void => {
    // This one goes away. The focus stays in the list.
    const card = currentTarget.closest("li");
    const near = card?.nextElementSibling ?? card?.previousElementSibling ?? undefined;
    near?.querySelector<HTMLElement>("[data-differs]")?.focus();
    refuse(suggestion, !isRefused);
    if (!isRefused) say(`Hidden in this browser: ${from} and ${into}`, async () => refuse(suggestion, false));
  };
  return (
    <li class="card tag-suggestion">
      <div class="tag-pair">
        <Link class="stored" to={toTag(from)}>
          {from}
        </Link>
        <span class="small muted">{count(from_nodes, "memory", "memories")}</span>
        <span class="muted small">may be the same as</span>
        <Link class="stored" to={toTag(into)}>
          {into}
        </Link>
        <span class="small muted">{count(into_nodes, "memory", "memories")}</span>
      </div>
      <p class="small muted">{evidence(suggestion)}</p>
      {ask && (
        <div class="row">
          <button type="button" class="button" onClick={() => ask({ act: "merge", from: [from], into })}>
            Merge …
            <span class="hidden-label">
              {" "}
              {from} into {into}
            </span>
          </button>
          <button type="button" class="button" data-differs onClick={toggle}>
            {isRefused ? "Suggest again" : "They differ"}
            <span class="hidden-label">
              : {from}, {into}
            </span>
          </button>
        </div>
      )}
    </li>
  );
}

function evidence({ name, nodes, meaning }: models.Suggestion): string {
  const alike = (share: number): string => `${number(Math.round(share * 100))} %`;
  const facts = [
    typeof name === "number" && (name >= 1 ? "the same last name" : `last names ${alike(name)} alike`),
    typeof nodes === "number" && `${alike(nodes)} of their memories in common`,
    typeof meaning === "number" && `meanings ${alike(meaning)} alike`,
  ].filter((it) => it !== false);
  const text = facts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
