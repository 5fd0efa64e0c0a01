// Jobs as a table.

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { models } from "htm-memory";
import { Time } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link, address } from "../../router";
import type { Acted, ActedJobs, Done } from "./acted";
import { useActing } from "./acting";
import { FailureText } from "./failure";
import { canAct, canCancel, canRetry, cancel, retry } from "./job-acts";
import { PARKED_FOR, STATE_NAMES, stageOf } from "../../components/job-words";

interface Properties {
  jobs: readonly models.Job[];
  /** Whether they are in several states. */
  hasStates: boolean;
  selected: ReadonlySet<string>;
  setSelected: (selected: ReadonlySet<string>) => void;
  acted: ActedJobs;
  changed: (ids: readonly string[], done: Done) => void;
}

export function JobTable({ jobs, hasStates, selected, setSelected, acted, changed }: Properties): JSX.Element {
  const ids = jobs.filter((job) => !acted.get(job.id)?.isLocked && canAct(job)).map(({ id }) => id);
  const isWhole = ids.every((id) => selected.has(id));
  const toggle = (id: string): void => {
    const changed = new Set(selected);
    if (!changed.delete(id)) changed.add(id);
    setSelected(changed);
  };
  return (
    <TableBox label="Jobs">
      <Heads
        columns={[
          ids.length > 0
            ? { shown: <SelectAll isWhole={isWhole} select={() => setSelected(new Set(isWhole ? [] : ids))} /> }
            : { hidden: "Selection" },
          "Memory",
          hasStates && "State",
          hasStates ? "Result or last error" : "Why it failed",
          "Attempts",
          "When",
          { hidden: "Actions" },
        ]}
      />
      <tbody>
        {jobs.map((job) => (
          <Row
            key={job.id}
            job={job}
            hasStates={hasStates}
            isSelected={selected.has(job.id)}
            toggle={toggle}
            acted={acted.get(job.id)}
            changed={changed}
          />
        ))}
      </tbody>
    </TableBox>
  );
}

function SelectAll({ isWhole, select }: { isWhole: boolean; select: () => void }): JSX.Element {
  return (
    <label class="tick">
      <span class="hidden-label">Select all of this page</span>
      <input type="checkbox" checked={isWhole} onChange={select} />
    </label>
  );
}

interface RowProperties extends Pick<Properties, "hasStates" | "changed"> {
  job: models.Job;
  isSelected: boolean;
  toggle: (id: string) => void;
  acted: Acted | undefined;
}

function Row({ job: listed, hasStates, isSelected, toggle, acted, changed }: RowProperties): JSX.Element {
  const isLocked = acted?.isLocked ?? false;
  const now = acted?.job ?? listed;
  // A row keeps its height, and so those below it their places: only the new state is shown of one that is locked.
  const job = isLocked ? listed : now;
  const what = typeof job.node === "number" ? `memory ${job.node}` : `job ${job.id}`;
  return (
    <tr class={isSelected ? "chosen" : ""}>
      <td>
        {!isLocked && canAct(job) && (
          <label class="tick">
            <span class="hidden-label">
              Select {stageOf(job.queue).toLowerCase()} of {what}
            </span>
            <input type="checkbox" checked={isSelected} onChange={() => toggle(job.id)} />
          </label>
        )}
      </td>
      <td class="job-memory">
        <MemoryLink job={job} />
        <span class="small muted">{stageOf(job.queue)}</span>
        <span class="small muted stored clamped" title={job.namespace ?? undefined}>
          {job.namespace ?? "no namespace"}
        </span>
      </td>
      {hasStates && (
        <td>
          <StateText job={now} />
        </td>
      )}
      <td class="job-why">
        {job.last_error ? (
          <FailureText error={job.last_error} isShort />
        ) : job.outcome ? (
          <span class="stored">{job.outcome}</span>
        ) : (
          <span class="muted">–</span>
        )}
        {job.parked && !job.last_error && <p class="small">Parked: {PARKED_FOR[job.parked]}.</p>}
      </td>
      <td class="nowrap">
        {job.attempts} of {job.max_attempts}
      </td>
      <td>{isLocked && !hasStates ? <StateText job={now} /> : <When job={job} />}</td>
      <td>
        <RowActions job={job} what={what} isLocked={isLocked} changed={changed} />
      </td>
    </tr>
  );
}

export function MemoryLink({ job }: { job: models.Job }): JSX.Element {
  if (typeof job.node !== "number") return <span class="muted">No memory</span>;
  return <Link to={address(`/console/memories/${job.node}`, { namespace: null })}>Memory {job.node}</Link>;
}

const STATE_CLASSES: Partial<Record<models.JobState, string>> = {
  dead: "state-bad",
  parked: "state-warn",
  done: "state-good",
};

export function StateText({ job }: { job: models.Job }): JSX.Element {
  return <span class={`nowrap ${STATE_CLASSES[job.state] ?? ""}`}>{STATE_NAMES[job.state]}</span>;
}

/** When it came into its state, or when it is tried again. */
function When({ job }: { job: models.Job }): JSX.Element {
  // One that was put off for too long waits for somebody; its time is far in the future.
  if (job.parked === "age") return <span class="muted">until retried</span>;
  if (job.state === "waiting" || job.state === "parked")
    return (
      <>
        tried again <Time at={job.due_at} />
      </>
    );
  if (job.state === "running") return <Time at={job.held_since} />;
  return <Time at={job.ended_at ?? job.due_at} />;
}

interface RowActionsProperties extends Pick<Properties, "changed"> {
  job: models.Job;
  what: string;
  isLocked: boolean;
}

function RowActions({ job, what, isLocked, changed }: RowActionsProperties): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  const { isActing, act } = useActing(() => row.current?.querySelector("a"));
  const ids = [job.id];
  const retryIt = async (): Promise<void> => {
    if (await retry(ids)) changed(ids, "retried");
  };
  const cancelIt = async (): Promise<void> => {
    if (await cancel(ids, () => changed(ids, "undone"))) changed(ids, "cancelled");
  };
  return (
    <div class="row job-acts" ref={row}>
      {canRetry(job) && (
        <button type="button" class="button" disabled={isActing || isLocked} onClick={() => void act(retryIt)}>
          Retry<span class="hidden-label"> {what}</span>
        </button>
      )}
      {canCancel(job) && (
        <button type="button" class="button" disabled={isActing || isLocked} onClick={() => void act(cancelIt)}>
          Cancel<span class="hidden-label"> {what}</span>
        </button>
      )}
      <Link class="button quiet" to={address(`/console/pipeline/jobs/${job.id}`)}>
        Details<span class="hidden-label"> of {what}</span>
      </Link>
    </div>
  );
}
