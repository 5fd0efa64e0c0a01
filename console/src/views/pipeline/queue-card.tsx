// A queue: what waits in it, and whether anybody works on it.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Time, count, duration, number } from "../../components/basics";
import { focusIfLost } from "../../components/focus";
import { attempt, say } from "../../components/toasts";
import { Link, address } from "../../router";
import { htm } from "../../server";
import { FailureText } from "./failure";
import { PauseDialog } from "./pause";
import { STATES, STATE_NAMES, stageOf, workerOf } from "../../components/job-words";

interface Properties {
  queue: models.QueueStats;
  reload: () => void;
}

const STOPPED = ["Paused", "Held back", "No worker"] as const;

export type Stop = (typeof STOPPED)[number];

/** Why it does not go on, in a few words; none: it does. */
export function stopOf(queue: models.QueueStats): Stop | undefined {
  const state = stateOf(queue);
  return STOPPED.find((stop) => stop === state);
}

export function QueueCard({ queue, reload }: Properties): JSX.Element {
  const name = stageOf(queue.queue);
  return (
    <section class="card stack queue" aria-label={`${name}: ${queue.queue}`}>
      <div class="row queue-head">
        <div>
          <h2>{name}</h2>
          <p class="small muted stored">
            {name === "Learning" ? "ranking from feedback" : (queue.model ?? "no model yet")} · <code>{queue.queue}</code>
          </p>
        </div>
        <PauseButton queue={queue} reload={reload} />
      </div>
      {/* Apart from what is seen, which changes all the while. */}
      <p class="hidden-label" role="status">
        {queue.queue}: {stopOf(queue) ?? "goes on"}
      </p>
      <State queue={queue} />
      <ul class="counts">
        {STATES.map((state) => (
          <Count key={state} queue={queue} state={state} />
        ))}
      </ul>
      <p class="small muted">
        {typeof queue.oldest_due_ms === "number"
          ? `The oldest ready job has waited for ${duration(queue.oldest_due_ms)}.`
          : "Nothing waits for a worker."}
        {queue.backfill > 0 && ` ${count(queue.backfill, "open job")} of backfills.`} {count(queue.workers, "worker")}.
      </p>
    </section>
  );
}

function Count({ queue, state }: { queue: models.QueueStats; state: models.JobState }): JSX.Element {
  const value = queue[state];
  const name = state === "dead" ? "Dead letters" : STATE_NAMES[state];
  // The numbers are of all namespaces, and so are the lists behind them.
  const to =
    state === "dead"
      ? address("/console/pipeline/dead-letters", { queue: queue.queue, namespace: null })
      : address("/console/pipeline/jobs", { queue: queue.queue, state, namespace: null });
  return (
    <li class={state === "dead" && value > 0 ? "state-bad" : ""}>
      <strong class="number">{number(value)}</strong>
      {value > 0 ? (
        <Link class="small" to={to}>
          {name}
        </Link>
      ) : (
        <span class="small muted">{name}</span>
      )}
    </li>
  );
}

/** Whether it goes on, in a few words. */
function stateOf(queue: models.QueueStats): string {
  if (typeof queue.paused === "string") return "Paused";
  if (queue.held) return "Held back";
  const open = queue.due + queue.waiting + queue.running;
  if (open > 0) return queue.workers === 0 ? "No worker" : "Working";
  return queue.parked > 0 ? "Nothing to do but the parked jobs" : "Nothing to do";
}

/** Whether it goes on, and if not, why. */
function State({ queue }: { queue: models.QueueStats }): JSX.Element {
  if (typeof queue.paused === "string") {
    return (
      <div class="notice warn">
        <p>
          <strong>Paused</strong> <Time at={queue.paused_at} />
        </p>
        <p class="small stored">{queue.paused || "No reason was given."}</p>
      </div>
    );
  }
  if (queue.held) {
    return (
      <div class="notice bad">
        <p>
          <strong>Held back</strong>
          {queue.held_until && (
            <>
              , next try <Time at={queue.held_until} />
            </>
          )}
        </p>
        <FailureText error={queue.held} />
        {queue.refused && <p class="small stored">{queue.refused}</p>}
      </div>
    );
  }
  const state = stateOf(queue);
  if (state === "No worker") {
    return (
      <p class="notice warn">
        <strong>No worker</strong> serves this queue. Start <code>htm up</code>, or{" "}
        <code>{workerOf(queue.queue)}</code>.
      </p>
    );
  }
  const isWorking = state === "Working";
  return (
    <p class="row">
      <span class={isWorking ? "state-good" : "muted"} aria-hidden="true">
        {isWorking ? "▶" : "✓"}
      </span>
      <span>{state}</span>
    </p>
  );
}

function PauseButton({ queue, reload }: Properties): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const [isActing, setActing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const name = stageOf(queue.queue);
  const reason = queue.paused;
  const resume = async (): Promise<void> => {
    setActing(true);
    const isDone = await attempt(() => htm.jobs.resumeQueue(queue.queue));
    setActing(false);
    focusIfLost(() => button.current);
    if (isDone) {
      const undo = async (): Promise<void> => {
        await htm.jobs.pauseQueue(queue.queue, { reason: reason ?? "" });
        reload();
      };
      say(`${name} goes on.`, undo, { about: queue.queue });
    }
    reload();
  };
  return (
    <>
      {typeof reason === "string" ? (
        <button ref={button} type="button" class="button primary" disabled={isActing} onClick={() => void resume()}>
          Resume <span class="hidden-label">{queue.queue}</span>
        </button>
      ) : (
        <button ref={button} type="button" class="button" onClick={() => setAsked(true)}>
          Pause … <span class="hidden-label">{queue.queue}</span>
        </button>
      )}
      {isAsked && <PauseDialog queue={queue.queue} onClose={() => setAsked(false)} reload={reload} />}
    </>
  );
}
