// Tags that may mean the same, as the server finds them, and those that somebody marked as distinct.

import type { JSX, TargetedMouseEvent } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, ShowMore, count, number } from "../../components/basics";
import { attempt } from "../../components/toasts";
import { Link } from "../../router";
import { htm, useAnswer } from "../../server";
import { send, type Request } from "./changes";
import { useFocusTaker } from "./focus";
import { useHere } from "./here";
import { toTag } from "./places";

const STEP = 50;
const MOST = 500;

export function Suggestions(): JSX.Element {
  const { namespace, version, ask } = useHere();
  const [limit, setLimit] = useState(STEP);
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
          {ask && " Merge them, or say that they differ: then they are suggested no more."}
          {answer.isLoading && " Comparing: with thousands of tags this can take a minute."}
        </p>
      </div>
      <Awaited answer={answer}>
        {(shown) => (
          <>
            {shown.length === 0 && (
              <Empty>
                <p>No tags look as if they meant the same.</p>
              </Empty>
            )}
            <ul class="tag-suggestions">
              {shown.map((it) => (
                <Card key={`${it.from} ${it.into}`} suggestion={it} />
              ))}
            </ul>
            {shown.length === limit && limit < MOST && (
              <ShowMore isBusy={answer.isLoading} act={() => setLimit(Math.min(MOST, limit + STEP))} />
            )}
          </>
        )}
      </Awaited>
      <ToldApart />
    </section>
  );
}

function Card({ suggestion }: { suggestion: models.Suggestion }): JSX.Element {
  const { ask } = useHere();
  const { from, into, from_nodes, into_nodes } = suggestion;
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
          <PairButton verb="They differ" request={{ kind: "mark_distinct", fields: { tag: from, other: into } }} />
        </div>
      )}
    </li>
  );
}

/** The pairs that are suggested no more. */
function ToldApart(): JSX.Element | null {
  const { namespace, version, ask } = useHere();
  const answer = useAnswer((signal) => htm.tags.distinct({ namespace }, { signal }), [namespace, version]);
  const pairs = answer.value ?? [];
  if (pairs.length === 0) return null;
  return (
    <details>
      <summary>{count(pairs.length, "pair")} marked as distinct</summary>
      <ul class="tag-suggestions">
        {pairs.map(({ tag, other }) => (
          <li key={`${tag} ${other}`} class="card tag-suggestion">
            <p>
              <Link class="stored" to={toTag(tag)}>
                {tag}
              </Link>{" "}
              <span class="muted small">is not</span>{" "}
              <Link class="stored" to={toTag(other)}>
                {other}
              </Link>
            </p>
            {ask && (
              <div class="row">
                <PairButton verb="Suggest again" request={{ kind: "unmark_distinct", fields: { tag, other } }} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Does at once what it says: it is undone as easily. */
function PairButton({ verb, request }: { verb: string; request: PairRequest }): JSX.Element {
  const { namespace, made } = useHere();
  const [isBusy, setIsBusy] = useState(false);
  const act = async ({ currentTarget }: TargetedMouseEvent<HTMLButtonElement>): Promise<void> => {
    // The card goes away. The focus stays in the list.
    const card = currentTarget.closest("li");
    const near = card?.nextElementSibling ?? card?.previousElementSibling ?? undefined;
    setIsBusy(true);
    await attempt(async () => {
      const changed = await send(request, namespace, false);
      near?.querySelector<HTMLElement>("[data-pair]")?.focus();
      made(request, changed);
    });
    setIsBusy(false);
  };
  const { tag, other } = request.fields;
  return (
    <button type="button" class="button" data-pair disabled={isBusy} onClick={act}>
      {verb}
      <span class="hidden-label">
        : {tag}, {other}
      </span>
    </button>
  );
}

type PairRequest = Extract<Request, { kind: "mark_distinct" | "unmark_distinct" }>;

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
