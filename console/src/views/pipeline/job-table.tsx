// Jobs as a table.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Time } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link, address } from "../../router";
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
  reload: () => void;
}

export function JobTable({ jobs, hasStates, selected, setSelected, reload }: Properties): JSX.Element {
  const ids = jobs.filter(canAct).map(({ id }) => id);
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
          { shown: ids.length > 0 && <SelectAll isWhole={isWhole} select={() => setSelected(new Set(isWhole ? [] : ids))} /> },
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
            reload={reload}
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

interface RowProperties extends Pick<Properties, "hasStates" | "reload"> {
  job: models.Job;
  isSelected: boolean;
  toggle: (id: string) => void;
}

function Row({ job, hasStates, isSelected, toggle, reload }: RowProperties): JSX.Element {
  const what = typeof job.node === "number" ? `memory ${job.node}` : `job ${job.id}`;
  return (
    <tr class={isSelected ? "chosen" : ""}>
      <td>
        {canAct(job) && (
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
          <StateText job={job} />
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
      <td>
        <When job={job} />
      </td>
      <td>
        <RowActions job={job} what={what} reload={reload} />
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

function RowActions({ job, what, reload }: { job: models.Job; what: string; reload: () => void }): JSX.Element {
  const { isActing, act } = useActing(reload);
  return (
    <div class="row job-acts">
      {canRetry(job) && (
        <button type="button" class="button" disabled={isActing} onClick={() => void act(() => retry([job.id]))}>
          Retry<span class="hidden-label"> {what}</span>
        </button>
      )}
      {canCancel(job) && (
        <button
          type="button"
          class="button"
          disabled={isActing}
          onClick={() => void act(() => cancel([job.id], reload))}
        >
          Cancel<span class="hidden-label"> {what}</span>
        </button>
      )}
      <Link class="button quiet" to={address(`/console/pipeline/jobs/${job.id}`)}>
        Details<span class="hidden-label"> of {what}</span>
      </Link>
    </div>
  );
}
