// The backfills, and how far they are.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Bar, Empty, Time, count, duration } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link, address } from "../../router";
import { htm, useAnswer, type Answer, usePolled } from "../../server";
import { recentRate } from "./history";
import { stopOf, type Stop } from "./queue-card";
import { StopDialog } from "./stop-backfill";

const WATCHED_MS = 3_000;
// Each is asked for apart. Those before have been overtaken by these.
const WATCHED = 5;

interface Properties {
  runs: Answer<models.Backfills>;
  queues: readonly models.QueueStats[];
  start: () => void;
  reload: () => void;
}

export function Backfills({ runs, queues, start, reload }: Properties): JSX.Element {
  const [stopped, setStopped] = useState<models.BackfillRun>();
  return (
    <section class="stack" aria-label="Backfills">
      <div class="row section-head">
        <h2>Backfills</h2>
        <button type="button" class="button" onClick={start}>
          Start a backfill …
        </button>
      </div>
      <Awaited answer={runs} isPolled>
        {({ backfills, next }) =>
          backfills.length === 0 ? (
            <Empty>
              <p>None yet. A backfill makes the jobs of memories that are older than a model.</p>
            </Empty>
          ) : (
            <>
              <Runs runs={backfills} queues={queues} stop={setStopped} />
              {typeof next === "number" && <p class="small muted">The latest {backfills.length} are shown.</p>}
            </>
          )
        }
      </Awaited>
      {stopped && <StopDialog run={stopped} onClose={() => setStopped(undefined)} reload={reload} />}
    </section>
  );
}

function Runs({
  runs,
  queues,
  stop,
}: {
  runs: readonly models.BackfillRun[];
  queues: readonly models.QueueStats[];
  stop: (run: models.BackfillRun) => void;
}): JSX.Element {
  const watched = runs.filter((run, index) => index < WATCHED || !run.finished_at).map(({ id }) => id);
  const progress = useAnswer(
    async (signal) =>
      new Map((await Promise.all(watched.map((id) => htm.backfills.get(id, { signal })))).map((run) => [run.id, run])),
    [watched.join()],
  );
  usePolled(progress, WATCHED_MS);
  return (
    <TableBox label="Backfills">
      <Heads columns={["Backfill", "State", "Made jobs", "Left of its queue", "Started", { hidden: "Actions" }]} />
      <tbody>
        {runs.map((run) => (
          <Row
            key={run.id}
            run={progress.value?.get(run.id) ?? run}
            jobs={progress.value?.get(run.id)?.jobs}
            halt={queues.filter(({ queue }) => queue === run.queue).map(stopOf)[0]}
            stop={() => stop(run)}
          />
        ))}
      </tbody>
    </TableBox>
  );
}

interface RowProperties {
  run: models.BackfillRun;
  jobs: models.BackfillProgress | undefined;
  /** Why its queue does not go on; none: it does. */
  halt: Stop | undefined;
  stop: () => void;
}

function Row({ run, jobs, halt, stop }: RowProperties): JSX.Element {
  const only = [
    run.namespace && `only ${run.namespace}`,
    run.since && `since ${new Date(run.since).toLocaleDateString()}`,
    run.forced && "also what is done",
  ].filter((fact) => typeof fact === "string");
  return (
    <tr>
      <td>
        {run.stage === "embed" ? "Embeddings" : "Tags"} <span class="small muted">no. {run.id}</span>
        <p class="small muted stored">
          {run.model}
          {only.length > 0 && `, ${only.join(", ")}`}
        </p>
      </td>
      <td class="run-state">
        <RunState run={run} jobs={jobs} halt={halt} />
      </td>
      <td class="nowrap">{count(run.enqueued, "job")}</td>
      <td>
        <Left run={run} jobs={jobs} halt={halt} />
      </td>
      <td class="nowrap">
        <Time at={run.started_at} />
      </td>
      <td>
        {!run.finished_at && (
          <button type="button" class="button danger" onClick={stop}>
            Stop … <span class="hidden-label">backfill {run.id}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

const HALTS: Record<Stop, string> = {
  Paused: "Its queue is paused",
  "Held back": "Its queue is held back",
  "No worker": "No worker serves its queue",
};

function RunState({ run, jobs, halt }: Omit<RowProperties, "stop">): JSX.Element {
  if (run.cancelled) return <span class="muted">Stopped</span>;
  if (!run.finished_at) {
    return (
      <>
        Makes jobs
        <Bar
          label={`Memory ${run.examined} of ${run.last} is looked at`}
          whole={Math.max(1, run.last)}
          parts={[{ name: "looked at", value: run.examined, series: 1 }]}
        />
        <span class="small muted">
          Looked at memory {run.examined} of {run.last}
          {typeof run.max_queued !== "number" && "; a command goes on with it, not the server"}
        </span>
      </>
    );
  }
  if (jobs && jobs.open > 0 && run.enqueued > 0) {
    return halt ? <span class="state-warn">{HALTS[halt]}</span> : <>Workers do its jobs</>;
  }
  if (jobs && jobs.parked > 0 && run.enqueued > 0) return <span class="state-warn">Done but for parked jobs</span>;
  return (
    <span class="state-good">
      <span aria-hidden="true">✓ </span>
      {jobs ? "Done" : "All jobs made"}
    </span>
  );
}

/** What is left, and how long it takes at the pace of late. */
function Left({ run, jobs, halt }: Omit<RowProperties, "stop">): JSX.Element {
  if (!jobs) return <span class="muted">–</span>;
  const rate = recentRate(run.queue);
  const time =
    rate && jobs.open > 0
      ? `${run.finished_at ? "about" : "at least"} ${duration((jobs.open * 60_000) / rate)} left`
      : undefined;
  return (
    <>
      {jobs.open > 0 ? (
        <>
          <Link to={address("/console/pipeline/jobs", { queue: run.queue, namespace: run.namespace ?? null })}>
            {count(jobs.open, "open job")}
          </Link>
          {!halt && (
            <p class="small muted">
              {time ??
                (rate === undefined ? "The pace is being measured …" : "No recent progress.")}
            </p>
          )}
        </>
      ) : (
        <span class="muted">Nothing</span>
      )}
      {jobs.parked > 0 && <p class="small">{count(jobs.parked, "parked job")}</p>}
      {jobs.dead > 0 && (
        <p class="small">
          <Link to={address("/console/pipeline/dead-letters", { queue: run.queue, namespace: run.namespace ?? null })}>
            {count(jobs.dead, "dead letter")}
          </Link>
        </p>
      )}
    </>
  );
}
