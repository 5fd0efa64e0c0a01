// The workers, and what each does now.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Empty, Time, count, duration, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link, address } from "../../router";

// A worker may hold hundreds of jobs.
const MEMORIES_SHOWN = 5;
// A fleet may have hundreds of workers, and lost ones stay for a day.
const WORKERS_SHOWN = 100;

interface Properties {
  workers: readonly models.Worker[];
  running: readonly models.Job[];
  /** When they were asked for. */
  at: number;
}

export function Workers({ workers, running, at }: Properties): JSX.Element {
  const lost = workers.filter((worker) => !worker.alive).length;
  return (
    <section class="stack" aria-label="Workers">
      <h2>Workers</h2>
      {workers.length === 0 ? (
        <Empty>
          <p>
            No worker has been seen. Start <code>htm up</code>, or <code>embed-worker</code>, <code>tag-worker</code>{" "}
            and <code>learn-worker</code>.
          </p>
        </Empty>
      ) : (
        <TableBox label="Workers">
          <Heads columns={["Worker", "State", "Queue", "Does now", "Last seen", "Started"]} />
          <tbody>
            {workers.slice(0, WORKERS_SHOWN).map((worker) => (
              <Row key={worker.id} worker={worker} held={running.filter((job) => job.held_by === worker.id)} at={at} />
            ))}
          </tbody>
        </TableBox>
      )}
      {workers.length > WORKERS_SHOWN && (
        <p class="small muted">{count(workers.length - WORKERS_SHOWN, "more worker")} not shown.</p>
      )}
      {lost > 0 && (
        <p class="small muted">
          A lost worker has not been seen for longer than it may be silent. Others take over its jobs by themselves, in
          less than a minute. It is removed from this list after a day.
        </p>
      )}
    </section>
  );
}

function Row({ worker, held, at }: { worker: models.Worker; held: readonly models.Job[]; at: number }): JSX.Element {
  return (
    <tr>
      <td class="model-name">
        <code class="stored">{worker.id}</code>
        <br />
        <span class="small muted stored">{worker.detail}</span>
      </td>
      <td class="nowrap">
        {worker.alive ? (
          <span class="state-good">
            <span aria-hidden="true">✓ </span>Alive
          </span>
        ) : (
          <strong class="state-bad">
            <span aria-hidden="true">✕ </span>Lost
          </strong>
        )}
      </td>
      <td>
        <code>{worker.queue}</code>
      </td>
      <td>
        <Doing worker={worker} held={held} />
      </td>
      <td class="nowrap">{duration(worker.unseen_ms + Date.now() - at)} ago</td>
      <td class="nowrap">
        <Time at={worker.started_at} />
      </td>
    </tr>
  );
}

function Doing({ worker, held }: { worker: models.Worker; held: readonly models.Job[] }): JSX.Element {
  // The two lists are read one after the other, and a job may have ended in between.
  if (worker.jobs === 0) return <span class="muted">Nothing</span>;
  const memories = held.flatMap(({ node }) => node ?? []).slice(0, MEMORIES_SHOWN);
  const rest = worker.jobs - memories.length;
  return (
    <>
      <Link to={address("/console/pipeline/jobs", { state: "running", queue: worker.queue, namespace: null })}>
        {count(worker.jobs, "job")}
      </Link>
      {memories.length > 0 && (
        <span class="small">
          {" "}
          of the memories{" "}
          {memories.map((memory, index) => (
            <span key={memory}>
              {index > 0 && ", "}
              <Link to={address(`/console/memories/${memory}`, { namespace: null })}>{memory}</Link>
            </span>
          ))}
          {rest > 0 && ` and ${number(rest)} more`}
        </span>
      )}
    </>
  );
}
