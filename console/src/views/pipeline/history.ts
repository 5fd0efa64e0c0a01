// What this page has seen of the queues: the rate of the last seconds, which the server's history by minutes has not.

import type { models } from "htm-memory";

interface Sample {
  at: number;
  /** The done jobs of each queue. */
  done: ReadonlyMap<string, number>;
  /** The queues with something to do. */
  busy: ReadonlySet<string>;
  /** The most milliseconds until the next one. Beyond it, nobody knows when in between the jobs were done. */
  longest: number;
}

const KEPT_MS = 15 * 60_000;
// After an answer that came at once.
const LONGEST_MS = 30_000;

let samples: Sample[] = [];

/** Records an answer. `rest`: the least milliseconds until the next one is asked for. */
export function record(queues: readonly models.QueueStats[], rest: number): void {
  const at = Date.now();
  const done = new Map(queues.map((queue) => [queue.queue, queue.done]));
  const busy = new Set(queues.filter(({ due, waiting, running }) => due + waiting + running > 0).map(({ queue }) => queue));
  samples = [...samples.filter((sample) => sample.at > at - KEPT_MS), { at, done, busy, longest: LONGEST_MS + 2 * rest }];
}

interface Finished {
  from: number;
  until: number;
  jobs: number;
}

/**
 * The jobs that a queue has done between two samples. Where done jobs were pruned meanwhile, it is not known. Where there
 * was nothing to do, it says nothing of the pace.
 */
function finished(queue: string): Finished[] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index];
    const [then, now] = [before?.done.get(queue), sample.done.get(queue)];
    if (!before?.busy.has(queue) || then === undefined || now === undefined || now < then) return [];
    if (sample.at - before.at > before.longest) return [];
    return [{ from: before.at, until: sample.at, jobs: now - then }];
  });
}

/** The jobs that a queue has done a minute, of late; none while too little is known. */
export function recentRate(queue: string, milliseconds = 120_000): number | undefined {
  const since = Date.now() - Math.max(milliseconds, samples.at(-1)?.longest ?? 0);
  const recent = finished(queue).filter(({ until }) => until > since);
  const time = recent.reduce((sum, { from, until }) => sum + until - from, 0);
  const jobs = recent.reduce((sum, each) => sum + each.jobs, 0);
  return time < 8_000 ? undefined : (jobs * 60_000) / time;
}
