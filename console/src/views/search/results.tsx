// The answer to a search: what it understood, what it could not see, and the hits.

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, ShowMore, count, duration, exactly } from "../../components/basics";
import { added } from "../../components/filter-chips";
import { placeIn, useNamespaces } from "../../components/namespace";
import { useUser } from "../../components/sign-in";
import { Link, useNamespace, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";
import { STRATEGY_NAMES } from "./filters";
import { HitCard } from "./hit";
import { UNFILTERED, body, isNarrowed, type Query, type Setter } from "./query";
import { scaled, sumOf } from "./score-parts";

interface Properties {
  query: Query;
  isTitled: boolean;
  /** Whether the first hit gets the focus, as soon as the answer to this query is here. */
  isHitWanted: boolean;
  /** It is there, or there is none. */
  hitFound: () => void;
  set: Setter;
}

export function Results({ query, isTitled, isHitWanted, hitFound, set }: Properties): JSX.Element {
  const namespace = useNamespace();
  const section = useRef<HTMLElement>(null);
  const isAsked = query.text.trim() !== "";
  const asked = JSON.stringify(body(query, namespace));
  const answer = useAnswer(
    async (signal) => (isAsked ? { asked, recalled: await htm.recall.recall(body(query, namespace), { signal }) } : undefined),
    [asked],
  );
  const { value, isLoading } = answer;
  // While another answer is awaited, the former one is shown.
  const isAnswered = !isAsked || value?.asked === asked;
  useLayoutEffect(() => {
    if (!isHitWanted || !isAnswered) return;
    hitFound();
    // Whoever went elsewhere meanwhile stays there.
    const isElsewhere = document.activeElement?.matches(":not(body, [role=search] *)");
    if (!isElsewhere) section.current?.querySelector<HTMLElement>(".hit-link")?.focus();
  }, [isHitWanted, isAnswered]);
  return (
    <section class="stack" aria-label={STRATEGY_NAMES[query.strategy]} aria-busy={isLoading} ref={section}>
      {isTitled && <h2>{STRATEGY_NAMES[query.strategy]}</h2>}
      {isAsked ? (
        <Awaited answer={answer}>
          {(value) => value && <Answered recalled={value.recalled} query={query} set={set} />}
        </Awaited>
      ) : (
        <Empty>
          <p>Ask a question, or type some words. A phrase in quotes is wanted as it stands; a word after - is not.</p>
          <OtherNamespaces isOffered={namespace === undefined} />
        </Empty>
      )}
    </section>
  );
}

/**
 * Where there is something to search: the namespace that is searched may have nothing in it, as the server's own one at
 * first. `isOffered`: also if it has something.
 */
function OtherNamespaces({ isOffered }: { isOffered: boolean }): JSX.Element | null {
  const { path, query } = usePlace();
  const { names, hasOthers } = useNamespaces();
  const own = useUser().namespace;
  const searched = useNamespace() ?? own;
  const isEmpty = !hasOthers && !names.includes(searched);
  const others = names.filter((name) => name !== searched).slice(0, MOST_NAMESPACES);
  if (others.length === 0 || !(isOffered || isEmpty)) return null;
  return (
    <p class="row others">
      <span>
        {isEmpty ? "There is no memory in" : "This searches the namespace"} <bdi>{searched}</bdi>.{" "}
        {isEmpty ? "Memories are in" : "There are also"}
      </span>
      {others.map((name) => (
        <Link key={name} class="chip" to={placeIn(name, path, query)}>
          {name}
        </Link>
      ))}
    </p>
  );
}

const MOST_NAMESPACES = 12;

function Answered({ recalled, query, set }: { recalled: models.Recalled; query: Query; set: Setter }): JSX.Element {
  const { hits } = recalled;
  const longest = Math.max(0, ...hits.map((hit) => sumOf(scaled(hit).map(({ value }) => Math.max(0, value)))));
  return (
    <>
      <p class="muted small" role="status">
        {count(hits.length, "memory", "memories")} in {duration(recalled.search_ms + recalled.embed_ms)}
        {recalled.embed_ms >= 1 && `, of which the embedding of the question took ${duration(recalled.embed_ms)}`}
        {recalled.models.length > 0 && `, by ${recalled.models.join(", ")}`}
        {recalled.chosen && `; ${STRATEGY_NAMES[recalled.chosen.strategy].toLowerCase()} was chosen, as there is ${REASONS[recalled.chosen.reason]}`}
      </p>
      <Understood recalled={recalled} />
      {hits.length === 0 ? (
        <Empty>
          <p>Nothing matches{isNarrowed(query) ? " within these filters" : ""}.</p>
          <OtherNamespaces isOffered={false} />
          {isNarrowed(query) && (
            <p>
              <button type="button" class="button" onClick={() => set(UNFILTERED)}>
                Remove all filters
              </button>
            </p>
          )}
        </Empty>
      ) : (
        <ol class="stack hits">
          {hits.map((hit, index) => (
            <HitCard key={hit.id} hit={hit} rank={index + 1} longest={longest} addTag={(tag) => set({ tags: added(query.tags, tag) })} />
          ))}
        </ol>
      )}
      {hits.length === query.limit && (
        <ShowMore act={() => set({ limit: query.limit * 2 })} />
      )}
    </>
  );
}

const REASONS: Record<models.ChosenFor, string> = {
  phrase: "a phrase in it",
  question: "a question",
  prefix: "the beginning of a word in it",
  exact_terms: "an exact term in it",
  words: "only words",
};

/** What was understood, corrected, left out: everything that an answer does not show by itself. */
function Understood({ recalled }: { recalled: models.Recalled }): JSX.Element {
  const { corrected, degraded, unembedded } = recalled;
  const day = (at: string | null | undefined, open: string): string => (at ? exactly(new Date(at)) : open);
  return (
    <>
      {recalled.timeframe.length > 0 && (
        <p class="small muted">
          {recalled.time_phrase && <>“{recalled.time_phrase.phrase}”: </>}
          {recalled.timeframe.map((range) => `from ${day(range.from, "the beginning")} until ${day(range.until, "now")}`).join("; ")}
        </p>
      )}
      {corrected.length > 0 && (
        <p class="notice small">
          {corrected.map(({ asked, used }) => (
            <span key={asked}>
              No memory has{" "}
              <q>
                <bdi>{asked}</bdi>
              </q>
              :{" "}
              <q>
                <bdi>{used}</bdi>
              </q>{" "}
              was searched.{" "}
            </span>
          ))}
        </p>
      )}
      {recalled.relaxed && <p class="notice small">No memory among those searched has the quoted phrase: its words were searched.</p>}
      {recalled.instead_of && <p class="notice warn small">The active model {recalled.instead_of} has no embedder here; another one answered.</p>}
      {degraded.map(({ step, reason, hint }) => (
        <p key={step} class="notice warn small">
          {STEPS[step]}: {reason}. {hint}
        </p>
      ))}
      {unembedded > 0 && (
        <p class="notice warn small">
          {unembedded > 1_000
            ? "More than 1,000 memories are not embedded"
            : count(unembedded, "memory is not embedded", "memories are not embedded")}
          : vectors find {unembedded === 1 ? "it" : "them"} by a former text or not at all.
        </p>
      )}
    </>
  );
}

const STEPS: Record<models.Step, string> = {
  vector: "Without vectors",
  rerank: "Not re-ranked",
  expansion: "Not rephrased",
};
