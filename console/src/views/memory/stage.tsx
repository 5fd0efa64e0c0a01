// The state of a stage: how far the embedding or the tags of a text are.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Time, count, duration, number } from "../../components/basics";
import { Link, address } from "../../router";
import { PARKED_FOR } from "../../components/job-words";
import { beginning } from "./passage";

// The whole error is in the pipeline.
const REASON = 600;

const NAMES: Record<models.Stage, { name: string; hint: string }> = {
  embed: { name: "Embedding", hint: "Its meaning as numbers, so that a search by meaning finds it." },
  tag: { name: "Tagging", hint: "Its topics, which a worker chooses." },
};

type State = models.StageStatus["state"];

const STATES: Record<State, { name: string; sign: string; tone: string }> = {
  done: { name: "Done", sign: "✓", tone: "state-good" },
  pending: { name: "Waiting", sign: "…", tone: "state-warn" },
  running: { name: "Running", sign: "▸", tone: "state-warn" },
  parked: { name: "Parked", sign: "Ⅱ", tone: "state-warn" },
  dead: { name: "Failed for good", sign: "✕", tone: "state-bad" },
  awaited: { name: "Awaited from a program", sign: "…", tone: "state-warn" },
  stranded: { name: "Lost", sign: "✕", tone: "state-bad" },
};

export function StageRow({ stage, memory }: { stage: models.StageStatus; memory: number }): JSX.Element {
  const { name, hint } = NAMES[stage.stage];
  const { name: state, sign, tone } = STATES[stage.state];
  return (
    <li>
      <p>
        <strong title={hint}>{name}</strong>{" "}
        <span class={tone}>
          <span aria-hidden="true">{sign}</span> {state}
        </span>
      </p>
      <div class="small">
        <Details stage={stage} memory={memory} />
        {typeof stage.stale === "number" && (
          <p class="muted">Until the text of now is done, the result for revision {number(stage.stale)} is used.</p>
        )}
      </div>
    </li>
  );
}

function Details({ stage, memory }: { stage: models.StageStatus; memory: number }): JSX.Element {
  switch (stage.state) {
    case "done":
      return (
        <p class="muted">
          {outcomeOf(stage.outcome)} by <code>{stage.model}</code>, <Time at={stage.at} />,{" "}
          {duration(Math.max(0, stage.after_ms))} after the text was written
          {stage.attempt > 1 && `, at attempt ${number(stage.attempt)}`}
        </p>
      );
    case "pending":
      return (
        <>
          <p class="muted">
            {stage.attempts > 0 && `${number(stage.attempts)} of ${number(stage.max_attempts)} attempts failed. `}
            {stage.due_at && <Due at={stage.due_at} />}
          </p>
          <Reason text={stage.last_error} />
        </>
      );
    case "running":
      return (
        <p class="muted stored">
          Attempt {number(stage.attempt)}, by {stage.worker}
        </p>
      );
    case "parked":
      return (
        <>
          <p class="muted">It was set aside: {PARKED_FOR[stage.why]}.</p>
          <Reason text={stage.last_error} />
        </>
      );
    case "dead":
      return (
        <>
          <Reason text={stage.error} />
          <p>
            <span class="muted">{count(stage.attempts, "attempt was", "attempts were")} made. </span>
            <Link to={address("/console/pipeline/dead-letters", { memory, namespace: null })}>
              Retry it in the pipeline
            </Link>
          </p>
        </>
      );
    case "awaited":
      return (
        <p class="muted">The vectors of the active model come from programs. None has brought one for this text.</p>
      );
    case "stranded":
      return (
        <p>
          There is neither a result nor a job for it.{" "}
          <Link to={address("/console/pipeline", { namespace: null })}>The pipeline can repair it</Link>
        </p>
      );
  }
}

function Due({ at }: { at: string }): JSX.Element {
  if (Date.parse(at) <= Date.now()) return <>It is ready for a worker.</>;
  return (
    <>
      It is tried <Time at={at} />.
    </>
  );
}

/** The outcome in words. The server stores "1 tags". */
function outcomeOf(outcome: string): string {
  const [, tags] = /^(\d+) tags$/.exec(outcome) ?? [];
  return tags === undefined ? outcome : count(Number(tags), "tag");
}

/** An error, as the server has stored it. */
export function Reason({ text }: { text: string | null | undefined }): JSX.Element | null {
  return text ? <p class="stored state-bad">{beginning(text, REASON)}</p> : null;
}
