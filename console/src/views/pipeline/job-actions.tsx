// The bar above a list of jobs.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count, number } from "../../components/basics";
import { useFocusTaker } from "../../components/focus";
import type { ActedJobs, Done } from "./acted";
import { useActing } from "./acting";
import { Bulk, type Act } from "./bulk";
import { canCancel, canRetry, cancel, retry } from "./job-acts";
import type { JobQuery } from "./job-query";

interface Properties {
  jobs: readonly models.Job[];
  query: JobQuery;
  selected: ReadonlySet<string>;
  acted: ActedJobs;
  /** What follows when something was done to jobs of the list. */
  changed: (ids: readonly string[], done: Done) => void;
  reload: () => void;
}

export function JobActions({ jobs, query, selected, acted, changed, reload }: Properties): JSX.Element {
  const reloadButton = useFocusTaker<HTMLButtonElement>(jobs);
  const { isActing, act } = useActing(() => reloadButton.current);
  const [bulk, setBulk] = useState<Act>();
  const chosen = jobs.map((job) => acted.get(job.id)?.job ?? job).filter((job) => selected.has(job.id));
  const retried = chosen.filter(canRetry).map(({ id }) => id);
  const cancelled = chosen.filter(canCancel).map(({ id }) => id);
  const retrySelected = async (): Promise<void> => {
    if (await retry(retried)) changed(retried, "retried");
  };
  const cancelSelected = async (): Promise<void> => {
    if (await cancel(cancelled, () => changed(cancelled, "undone"))) changed(cancelled, "cancelled");
  };
  const bulkActs = actsOn(query.state);
  return (
    <div class="row job-actions">
      <span class="small" role="status">
        {chosen.length > 0 ? `${count(chosen.length, "job")} selected` : ""}
      </span>
      {retried.length > 0 && (
        <button type="button" class="button primary" disabled={isActing} onClick={() => void act(retrySelected)}>
          Retry {number(retried.length)} selected
        </button>
      )}
      {cancelled.length > 0 && (
        <button type="button" class="button danger" disabled={isActing} onClick={() => void act(cancelSelected)}>
          Cancel {number(cancelled.length)} selected
        </button>
      )}
      <span class="row bulk-acts">
        <button ref={reloadButton} type="button" class="button quiet" onClick={reload}>
          Reload
        </button>
        {jobs.length > 0 &&
          bulkActs.map((each) => (
            <button key={each} type="button" class="button" onClick={() => setBulk(each)}>
              {ALL[each](query.state)}
            </button>
          ))}
      </span>
      {bulk && <Bulk act={bulk} query={query} onClose={() => setBulk(undefined)} reload={reload} />}
    </div>
  );
}

function actsOn(state: models.JobState | undefined): readonly Act[] {
  if (state === undefined) return ["retry", "cancel"];
  return [...(canRetry({ state }) ? (["retry"] as const) : []), ...(canCancel({ state }) ? (["cancel"] as const) : [])];
}

// Without a state, the list has all kinds, but only dead letters are retried and only open jobs cancelled.
const ALL: Record<Act, (state: models.JobState | undefined) => string> = {
  retry: (state) => (state ? "Retry all that match …" : "Retry all dead letters …"),
  cancel: (state) => (state ? "Cancel all that match …" : "Cancel all open …"),
};
