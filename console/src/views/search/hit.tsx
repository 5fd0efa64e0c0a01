// A hit, and why it is one.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Bar, Time, number } from "../../components/basics";
import { Snippet } from "../../components/snippet";
import { Link, address } from "../../router";

interface Properties {
  hit: models.Hit;
  rank: number;
  /** The sum of the parts of the best hit's score. */
  best: number;
  addTag: (tag: string) => void;
}

export function HitCard({ hit, rank, best, addTag }: Properties): JSX.Element {
  const { scores } = hit;
  return (
    <li class="card hit" onKeyDown={moveFocus}>
      <div class="row hit-head">
        <Link class="hit-link" to={address(`/console/memories/${hit.id}`, { namespace: null })}>
          <span class="muted number">{rank}.</span> Memory {hit.id}
        </Link>
        <span class="small muted">
          {hit.speaker && <>{hit.speaker} · </>}
          {hit.robot} · <Time at={hit.created_at} />
          {hit.session && <> · {hit.session}</>}
        </span>
        <span class="score number" title="Score, 0 to 1">
          {scores.score.toFixed(2)}
        </span>
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
      <Why hit={hit} best={best} />
    </li>
  );
}

const PARTS: Record<string, { name: string; series: number }> = {
  vector: { name: "meaning", series: 1 },
  words: { name: "words", series: 2 },
  together: { name: "words side by side", series: 3 },
  exact: { name: "exact terms", series: 4 },
  neighbours: { name: "turns beside it", series: 5 },
  speaker: { name: "speaker", series: 6 },
  time: { name: "time", series: 7 },
};

const MATCHES: Record<models.MatchedBy, string> = {
  vector: "Found by meaning",
  text: "Found by words",
  both: "Found by meaning and words",
  time: "Found by time",
  tag: "Found by a preferred tag",
  neighbour: "Found beside another hit",
};

/** The sum of the parts of a score that add to it. */
export function sumOfParts(hit: models.Hit): number {
  return (hit.explanation?.parts ?? []).reduce((sum, { score }) => sum + Math.max(0, score), 0);
}

function Why({ hit, best }: { hit: models.Hit; best: number }): JSX.Element {
  const { scores, matched_by } = hit;
  const parts = (hit.explanation?.parts ?? []).map(({ name, score }) => ({ ...(PARTS[name] ?? { name, series: 6 }), value: score }));
  const facts = [
    MATCHES[matched_by],
    scores.vector_rank && `place ${scores.vector_rank} by meaning`,
    scores.text_rank && `place ${scores.text_rank} by words`,
    typeof scores.similarity === "number" && `similarity ${scores.similarity.toFixed(2)}`,
    scores.stale && "of a former text",
  ].filter(Boolean);
  return (
    <div class="why small">
      <Bar parts={parts} whole={best} label={`Parts of the score: ${parts.map((part) => `${part.name} ${number(part.value)}`).join(", ") || "none"}`} />
      <p class="row muted">
        {parts.map(({ name, series, value }) => (
          <span key={name} class="row part">
            <span class={`swatch series-${series}`} aria-hidden="true" />
            {name} {value.toFixed(2)}
          </span>
        ))}
      </p>
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
