// A hit, and why it is one.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Bar, Time } from "../../components/basics";
import { Snippet } from "../../components/snippet";
import { Link, address } from "../../router";
import { decimal, rounded, scaled } from "./score-parts";

interface Properties {
  hit: models.Hit;
  rank: number;
  /** The longest bar of all hits, to compare with. */
  longest: number;
  addTag: (tag: string) => void;
}

export function HitCard({ hit, rank, longest, addTag }: Properties): JSX.Element {
  return (
    <li class="card hit" onKeyDown={moveFocus}>
      <div class="row hit-head">
        <Link class="hit-link" to={address(`/console/memories/${hit.id}`)}>
          <span class="muted number">{rank}.</span> Memory {hit.id}
        </Link>
        {/* Names have a direction of their own, which must not turn what stands beside them. */}
        <span class="small muted">
          {hit.speaker && (
            <>
              <bdi>{hit.speaker}</bdi> ·{" "}
            </>
          )}
          <bdi>{hit.robot}</bdi> · <Time at={hit.created_at} />
          {hit.session && (
            <>
              {" "}
              · <bdi>{hit.session}</bdi>
            </>
          )}
        </span>
        {/* A question that is only a time is answered without scores. */}
        {hit.matched_by !== "time" && (
          <span class="score number" title={SCORE}>
            {decimal(hit.scores.score)}
          </span>
        )}
      </div>
      <div class="stack close">
        <Snippet html={hit.snippet ?? undefined} text={hit.content} />
        {hit.tags.length > 0 && (
          <div class="row">
            {hit.tags.map((tag) => (
              <button key={tag} type="button" class="chip" title={`Only memories with ${tag}`} onClick={() => addTag(tag)}>
                {tag}
              </button>
            ))}
          </div>
        )}
      </div>
      <Why hit={hit} longest={longest} />
    </li>
  );
}

const SCORE =
  "Score, 0 to 1. The best hit has its similarity (meaning), its share of the most that words can have (words), or the mean of both. The others are in proportion to the values that order them.";

const MATCHES: Record<models.MatchedBy, string> = {
  vector: "Found by meaning",
  text: "Found by words",
  both: "Found by meaning and words",
  time: "Found by time",
  tag: "Found by a preferred tag",
  neighbour: "Found beside another hit",
};

function Why({ hit, longest }: { hit: models.Hit; longest: number }): JSX.Element {
  const { scores, matched_by } = hit;
  const parts = scaled(hit);
  const values = rounded(parts.map(({ value }) => value));
  const label = parts.map(({ name }, index) => `${name} ${values[index]}`).join(", ");
  const facts = [
    MATCHES[matched_by],
    scores.vector_rank && `place ${scores.vector_rank} by meaning`,
    scores.text_rank && `place ${scores.text_rank} by words`,
    typeof scores.similarity === "number" && `similarity ${decimal(scores.similarity)}`,
    scores.stale && "of a former text",
  ].filter(Boolean);
  return (
    <div class="why small">
      <Bar parts={parts} whole={longest} label={`Parts of the score: ${label || "none"}`} />
      {parts.length > 0 && (
        <p class="row muted" title={`Together these are the score. Before they were scaled to it: ${parts.map(({ name, raw }) => `${name} ${decimal(raw)}`).join(", ")}`}>
          {parts.map(({ name, series }, index) => (
            <span key={name} class="row part">
              <span class={`swatch series-${series}`} aria-hidden="true" />
              {name} {values[index]}
            </span>
          ))}
        </p>
      )}
      <p class="muted">{facts.join(" · ")}</p>
    </div>
  );
}

/** The arrow keys, and j and k, go from hit to hit. */
function moveFocus(event: KeyboardEvent): void {
  if (!(event.target instanceof HTMLElement) || !event.target.matches(".hit-link")) return;
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step === undefined) return;
  const links = [...document.querySelectorAll<HTMLElement>(".hit-link")];
  const next = links[links.indexOf(event.target) + step];
  if (next) {
    event.preventDefault();
    next.focus();
    next.closest(".hit")?.scrollIntoView({ block: "nearest" });
  }
}
