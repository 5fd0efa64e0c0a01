// What was done to the jobs of a list since it was read. Each stays in its place, where a second click expects it.

import { useEffect, useState } from "preact/hooks";
import { HtmError, type models } from "htm-memory";
import { htm, useAnswer, usePolled } from "../../server";

const WATCHED_MS = 2_000;
// Each is asked for apart.
const WATCHED = 5;

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
  // First those that were not read yet: each is read once.
  const watched = [...acted]
    .filter(([, entry]) => isWatched(entry))
    .sort(([, a], [, b]) => Number(a.isRead) - Number(b.isRead))
    .slice(0, WATCHED);
  const look = async (signal: AbortSignal): Promise<void> => {
    if (watched.length === 0) return;
    const jobs = await Promise.all(watched.map(([id]) => read(id, signal)));
    setActed((acted) => {
      const now = new Map(acted);
      watched.forEach(([id, entry], index) => {
        const job = jobs[index];
        // Not if the list was read meanwhile, or something else was done to the job.
        if (job !== undefined && acted.get(id) === entry) now.set(id, seen(entry, job));
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

/** A job as it is now; null: it is pruned; undefined: this failed, and it is shown as it was. */
function read(id: string, signal: AbortSignal): Promise<models.Job | null | undefined> {
  return htm.jobs.get(id, { signal }).catch((error) => (error instanceof HtmError && error.status === 404 ? null : undefined));
}

/** Each is read once. Whether a retried one fails again is seen later, unless it is pruned. */
function isWatched({ job, done, isRead, isLocked }: Acted): boolean {
  return !isRead || (isLocked && done === "retried" && job !== undefined && job.state !== "done");
}

function seen({ done, isRead, isLocked }: Acted, job: models.Job | null): Acted {
  // Not at the first look, when a second click may still come.
  const hasFailed = done === "retried" && isRead && job?.state === "dead";
  return { job: job ?? undefined, done, isRead: true, isLocked: isLocked && !hasFailed };
}
