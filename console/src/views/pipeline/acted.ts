// What was done to the jobs of a list since it was read. Each stays in its place, where a second click expects it.

import { useEffect, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { htm } from "../../server";

export interface Acted {
  /** As it is now; none: not known yet, or it is pruned. */
  job: models.Job | undefined;
  /** Whether nothing else can be done to it until the list is read again. */
  isLocked: boolean;
}

export type ActedJobs = ReadonlyMap<string, Acted>;

/** The jobs that something was done to since `list` was read. `note` reads how they are now. */
export function useActed(list: unknown): { acted: ActedJobs; note: (ids: readonly string[], isLocked: boolean) => void } {
  const [acted, setActed] = useState<ActedJobs>(new Map());
  useEffect(() => setActed(new Map()), [list]);
  const note = (ids: readonly string[], isLocked: boolean): void => {
    const begun = new Map(ids.map((id): [string, Acted] => [id, { job: acted.get(id)?.job, isLocked }]));
    setActed((acted) => new Map([...acted, ...begun]));
    for (const [id, entry] of begun) {
      // Not if the list was read meanwhile, or something else was done to the job.
      const put = (job: models.Job): void =>
        setActed((acted) => (acted.get(id) === entry ? new Map(acted).set(id, { job, isLocked }) : acted));
      // It is shown as it was where this fails.
      htm.jobs.get(id).then(put, () => undefined);
    }
  };
  return { acted, note };
}
