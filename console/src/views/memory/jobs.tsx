// The jobs that a memory went through.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Time, number } from "../../components/basics";
import { useUser } from "../../components/sign-in";
import { Heads, TableBox } from "../../components/table-box";
import { Link, address } from "../../router";
import { htm, useAnswer, type Answer } from "../../server";
import { STATE_HINTS, STATE_NAMES, stageOf } from "../../components/job-words";
import { beginning } from "./passage";

// Of those that are open, and of those that are done.
const MOST = 50;

const SHOWN = 8;

interface JobsOfMemory {
  jobs: models.Job[];
  isMore: boolean;
  isSeen: boolean;
}

export function useJobs(node: number, revision: number): Answer<JobsOfMemory> {
  const { role, namespaces } = useUser();
  // The server shows them to no other key.
  const isSeen = role === "admin" && namespaces === null;
  return useAnswer(
    async (signal) => {
      if (!isSeen) return { jobs: [], isMore: false, isSeen };
      const pages = await Promise.all([
        htm.jobs.list({ node, limit: MOST }, { signal }),
        htm.jobs.list({ node, state: "done", limit: MOST }, { signal }),
      ]);
      return { jobs: pages.flatMap(({ jobs }) => jobs), isMore: pages.some(({ next }) => next), isSeen };
    },
    [node, revision, isSeen],
  );
}

export function Jobs({ answer, memory }: { answer: Answer<JobsOfMemory>; memory: number }): JSX.Element {
  return (
    <Awaited answer={answer}>
      {({ jobs, isMore, isSeen }) => (
        <>
          <h3>Its jobs</h3>
          {!isSeen && <p class="muted small">Jobs are shown to keys of the role admin that see all namespaces.</p>}
          {isSeen && jobs.length === 0 && (
            <p class="muted small">None is open. A job that is done is kept for about an hour.</p>
          )}
          {jobs.length > 0 && <Table jobs={jobs} />}
          {isMore && (
            <p class="small">
              There are more:{" "}
              <Link to={address("/console/pipeline/jobs", { memory, namespace: null })}>all in the pipeline</Link>
            </p>
          )}
        </>
      )}
    </Awaited>
  );
}

function Table({ jobs }: { jobs: models.Job[] }): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  return (
    <>
      <div class="memory-table small">
        <TableBox label="Its jobs">
          <Heads
            columns={["Job", "Model", { number: "Revision" }, "State", { number: "Attempts" }, "When", "Result"]}
          />
          <tbody>
            {jobs.slice(0, shown).map((job) => (
              <Row key={job.id} job={job} />
            ))}
          </tbody>
        </TableBox>
      </div>
      {jobs.length > shown && (
        <p>
          <button type="button" class="button" onClick={() => setShown(jobs.length)}>
            Show {number(jobs.length - shown)} more
          </button>
        </p>
      )}
    </>
  );
}

function Row({ job }: { job: models.Job }): JSX.Element {
  const result = job.state === "done" ? job.outcome : job.last_error;
  return (
    <tr>
      <td>
        <Link to={address(`/console/pipeline/jobs/${job.id}`, { namespace: null })}>{stageOf(job.queue)}</Link>
      </td>
      <td class="stored memory-model">{modelOf(job) ?? <span class="muted">–</span>}</td>
      <td class="number">{typeof job.revision === "number" ? number(job.revision) : "–"}</td>
      <td title={STATE_HINTS[job.state]}>{STATE_NAMES[job.state]}</td>
      <td class="number">
        {number(job.attempts)} of {number(job.max_attempts)}
      </td>
      <td class="memory-time">
        <Time at={job.ended_at ?? job.held_since ?? job.due_at} />
      </td>
      <td class="stored memory-result">{result ? beginning(result, 200) : <span class="muted">–</span>}</td>
    </tr>
  );
}

/** The model is the last part of a job's key: memory/revision/generation/model. */
function modelOf({ key }: models.Job): string | undefined {
  return key?.split("/").slice(3).join("/") || undefined;
}
