// A job in full.

import type { ComponentChildren, JSX } from "preact";
import type { models } from "htm-memory";
import { Awaited, Time, exactly, number } from "../../components/basics";
import { useFocusTaker } from "../../components/focus";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";
import { useActing } from "./acting";
import { FailureText } from "./failure";
import { canCancel, canRetry, cancel, retry } from "./job-acts";
import { MemoryLink, StateText } from "./job-table";
import { PARKED_FOR, STATE_HINTS, stageOf } from "../../components/job-words";

const BACKFILL = -10;

export function ShownJob({ id }: { id: string }): JSX.Element {
  const answer = useAnswer((signal) => htm.jobs.get(id, { signal }), [id]);
  return (
    <section class="stack" aria-label="Job" aria-busy={answer.isLoading}>
      <h2 class="stored">
        Job <code>{id}</code>
      </h2>
      <Awaited answer={answer}>{(job) => <Whole job={job} reload={answer.reload} />}</Awaited>
      {answer.error?.code === "job_not_found" && (
        <p>
          Done jobs are removed after about an hour. <Link to={address("/console/pipeline/jobs")}>To all jobs</Link>
        </p>
      )}
    </section>
  );
}

function Whole({ job, reload }: { job: models.Job; reload: () => void }): JSX.Element {
  return (
    <>
      <Actions job={job} reload={reload} />
      {job.last_error && (
        <section class="card stack">
          <h3>{job.state === "dead" ? "Why it failed" : "The error of its last attempt"}</h3>
          <FailureText error={job.last_error} />
        </section>
      )}
      <div class="card">
        <dl class="facts">
          <Fact name="State">
            <StateText job={job} /> <span class="small muted">{STATE_HINTS[job.state]}</span>
          </Fact>
          {job.parked && <Fact name="Parked because">{PARKED_FOR[job.parked]}</Fact>}
          <Fact name="Memory">
            <MemoryLink job={job} />
            {typeof job.revision === "number" && <span class="muted">, revision {job.revision}</span>}
            {typeof job.node === "number" && <MemoryText id={job.node} />}
          </Fact>
          <Fact name="Namespace">{job.namespace}</Fact>
          <Fact name="Queue">
            {stageOf(job.queue)} <code class="muted">{job.queue}</code>
          </Fact>
          <Fact name="Attempts">
            {job.attempts} of {job.max_attempts}
          </Fact>
          <Fact name="Result">{job.outcome}</Fact>
          <Times job={job} />
          <Fact name="Held by">{job.held_by && <code>{job.held_by}</code>}</Fact>
          <Fact name="Priority">
            {number(job.priority)}
            <span class="muted"> ({priorityName(job.priority)})</span>
          </Fact>
          <Fact name="Key">{job.key && <code>{job.key}</code>}</Fact>
        </dl>
      </div>
      <details>
        <summary>What is stored of it</summary>
        <pre class="stored small" tabIndex={0}>
          {JSON.stringify(job.payload, null, 2)}
        </pre>
      </details>
    </>
  );
}

/** The first lines of a memory; nothing if it is forgotten. */
function MemoryText({ id }: { id: number }): JSX.Element | null {
  const { value } = useAnswer((signal) => htm.memories.get(id, {}, { signal }), [id]);
  return value ? <p class="small clamped">{value.content}</p> : null;
}

// The server's priorities: single writes are 0, bulk ones a little below, backfills far below.
function priorityName(priority: number): string {
  if (priority <= BACKFILL) return "a backfill: after everything else";
  return priority < 0 ? "written in bulk: after single writes" : "written by itself: first";
}

function Times({ job }: { job: models.Job }): JSX.Element {
  const isLater = job.state === "waiting" || job.state === "parked";
  const times = [
    { name: isLater ? "Tried again" : "Ready since", at: job.parked === "age" ? null : job.due_at },
    { name: "Put off since", at: job.deferred_since },
    { name: "Taken by its worker", at: job.held_since },
    { name: job.state === "dead" ? "Failed" : "Ended", at: job.ended_at },
  ];
  return (
    <>
      {times.map(
        ({ name, at }) =>
          at && (
            <Fact key={name} name={name}>
              <Time at={at} /> <span class="small muted">{exactly(new Date(at))}</span>
            </Fact>
          ),
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element | null {
  if (children === null || children === undefined || children === "" || children === false) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd class="stored">{children}</dd>
    </div>
  );
}

function Actions({ job, reload }: { job: models.Job; reload: () => void }): JSX.Element {
  const reloadButton = useFocusTaker<HTMLButtonElement>(job);
  const { isActing, act } = useActing(() => reloadButton.current);
  const retryIt = async (): Promise<void> => {
    await retry([job.id]);
    reload();
  };
  const cancelIt = async (): Promise<void> => {
    await cancel([job.id], reload);
    reload();
  };
  return (
    <div class="row">
      {canRetry(job) && (
        <button type="button" class="button primary" disabled={isActing} onClick={() => void act(retryIt)}>
          Retry
        </button>
      )}
      {canCancel(job) && (
        <button type="button" class="button danger" disabled={isActing} onClick={() => void act(cancelIt)}>
          Cancel
        </button>
      )}
      <button ref={reloadButton} type="button" class="button quiet" onClick={reload}>
        Reload
      </button>
      {typeof job.node === "number" && (
        <Link class="button quiet" to={address("/console/pipeline/jobs", { memory: job.node, namespace: null })}>
          Other jobs of this memory
        </Link>
      )}
    </div>
  );
}
