// What was done to the jobs of a list since it was read. Each stays in its place, where a second click expects it.

import { useEffect, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { htm, useAnswer, usePolled } from "../../server";

const WATCHED_MS = 2_000;

/** What was done to a job. `undone`: it is ready again after all. */
export type Done = "retried" | "cancelled" | "undone";

export interface Acted {
  /** As it is now; none: not known yet, or it is pruned. */
  job: models.Job | undefined;
  done: Done;
  /** Whether it was read since. */
  isRead: boolean;
  /** Whether nothing else can be done to it until the list is read again, or until it has failed again. */
  isLocked: boolean;
}

export type ActedJobs = ReadonlyMap<string, Acted>;

/** The jobs that something was done to since `list` was read. `note` tells of them; how they are now is read. */
export function useActed(list: unknown): { acted: ActedJobs; note: (ids: readonly string[], done: Done) => void } {
  const [acted, setActed] = useState<ActedJobs>(new Map());
  useEffect(() => setActed(new Map()), [list]);
  const watched = [...acted].filter(([, entry]) => isWatched(entry));
  const look = async (signal: AbortSignal): Promise<void> => {
    if (watched.length === 0) return;
    // One is shown as it was where this fails.
    const read = watched.map(([id]) => htm.jobs.get(id, { signal }).catch(() => undefined));
    const jobs = await Promise.all(read);
    setActed((acted) => {
      const now = new Map(acted);
      watched.forEach(([id, entry], index) => {
        const job = jobs[index];
        // Not if the list was read meanwhile, or something else was done to the job.
        if (job && acted.get(id) === entry) now.set(id, seen(entry, job));
      });
      return now;
    });
  };
  const answer = useAnswer(look, [watched.map(([id]) => id).join()]);
  usePolled(answer, watched.length > 0 ? WATCHED_MS : undefined);
  const note = (ids: readonly string[], done: Done): void => {
    const begun = ids.map((id): [string, Acted] => [id, { job: acted.get(id)?.job, done, isRead: false, isLocked: done !== "undone" }]);
    setActed((acted) => new Map([...acted, ...begun]));
  };
  return { acted, note };
}

/** Each is read once. Whether a retried one fails again is seen later. */
function isWatched({ job, done, isRead, isLocked }: Acted): boolean {
  return !isRead || (isLocked && done === "retried" && job?.state !== "done");
}

function seen({ done, isRead, isLocked }: Acted, job: models.Job): Acted {
  // Not at the first look, when a second click may still come.
  const hasFailed = done === "retried" && isRead && job.state === "dead";
  return { job, done, isRead: true, isLocked: isLocked && !hasFailed };
}
