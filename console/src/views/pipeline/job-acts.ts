// What can be done to jobs.

import type { models } from "htm-memory";
import { count, number } from "../../components/basics";
import { attempt, say } from "../../components/toasts";
import { htm } from "../../server";

const RETRIED: ReadonlySet<models.JobState> = new Set(["waiting", "parked", "dead"]);
const CANCELLED: ReadonlySet<models.JobState> = new Set(["due", "waiting", "parked", "running"]);

export function canRetry({ state }: { state: models.JobState }): boolean {
  return RETRIED.has(state);
}

export function canCancel({ state }: { state: models.JobState }): boolean {
  return CANCELLED.has(state);
}

/** Whether anything can be done to a job. */
export function canAct(job: { state: models.JobState }): boolean {
  return canRetry(job) || canCancel(job);
}

/** Retries these jobs, and says so. Returns whether it was done. */
export async function retry(ids: string[]): Promise<boolean> {
  return attempt(async () => sayRetried(await htm.jobs.retry({ ids }), about(ids)));
}

export function sayRetried({ retried, outdated }: models.Retried, about?: string): void {
  const left = outdated === 1 ? "1 was left: its memory was" : `${number(outdated)} were left: their memories were`;
  const ready = `${count(retried, "job is", "jobs are")} ready again.`;
  say(outdated > 0 ? `${ready} ${left} edited or forgotten since.` : ready, undefined, { about });
}

function about(ids: readonly string[]): string {
  return `jobs ${ids.join(" ")}`;
}

/** Cancels these jobs, and says so with a way back. Returns whether it was done. */
export async function cancel(ids: string[], undone: () => void): Promise<boolean> {
  return attempt(async () => {
    const { jobs } = await htm.jobs.cancel({ ids, confirm: true });
    const now = jobs === 1 ? "it is a dead letter" : "they are dead letters";
    const undo = async (): Promise<void> => {
      await htm.jobs.retry({ ids });
      undone();
    };
    say(`${count(jobs, "job is", "jobs are")} cancelled: ${now} now.`, undo, { about: about(ids) });
  });
}
