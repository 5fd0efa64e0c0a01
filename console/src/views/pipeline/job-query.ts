// Which jobs are listed, as the address holds it.

import type { models } from "htm-memory";
import { address } from "../../router";
import { htm } from "../../server";
import { STATES } from "../../components/job-words";

export interface JobQuery {
  queue: string;
  /** Of the memories; none: all. */
  namespace: string;
  /** None: all but the done ones. */
  state: models.JobState | undefined;
  /** A part of the error. */
  error: string;
  memory: number | undefined;
  /** The page; none: the first one. */
  cursor: string;
}

export const PAGE = 100;

/** As the address says. `state`: the only one that this list has. */
export function readQuery(parameters: URLSearchParams, state?: models.JobState): JobQuery {
  const memory = Number(parameters.get("memory"));
  return {
    queue: parameters.get("queue") ?? "",
    namespace: parameters.get("namespace") ?? "",
    state: state ?? STATES.find((state) => state === parameters.get("state")),
    error: parameters.get("error") ?? "",
    memory: Number.isSafeInteger(memory) && memory > 0 ? memory : undefined,
    cursor: parameters.get("cursor") ?? "",
  };
}

/** The address of a list. */
export function addressOf(path: string, query: JobQuery, hasState: boolean): string {
  const { state, ...rest } = query;
  return address(path, { ...rest, state: hasState ? null : state });
}

/** The conditions for the server. */
export function conditions({
  queue,
  namespace,
  state,
  error,
  memory,
}: JobQuery): Omit<models.SelectionBody, "ids" | "confirm"> {
  return {
    queue: queue || null,
    namespace: namespace || null,
    state: state ?? null,
    error: error || null,
    node: memory ?? null,
  };
}

export interface Counted {
  jobs: number;
  /** Whether there are more, which were not counted. */
  isMore: boolean;
}

const COUNTED_AT_ONCE = 5_000;
const COUNTED = 50_000;

/** The number of jobs that match. The server counts by queue only, so that any other condition needs their list. */
export async function countJobs(
  query: JobQuery,
  states: readonly models.JobState[],
  signal: AbortSignal,
): Promise<Counted> {
  if (!query.namespace && !query.error && !query.memory) {
    const queues = await htm.jobs.queues({ signal });
    const chosen = queues.filter(({ queue }) => !query.queue || queue === query.queue);
    return {
      jobs: chosen.reduce((sum, queue) => sum + states.reduce((sum, state) => sum + queue[state], 0), 0),
      isMore: false,
    };
  }
  let jobs = 0;
  for (const state of states) {
    let cursor: string | null = null;
    do {
      const page: models.JobPage = await htm.jobs.list(
        { ...conditions({ ...query, state }), cursor, limit: COUNTED_AT_ONCE },
        { signal },
      );
      jobs += page.jobs.length;
      cursor = page.next ?? null;
      if (jobs >= COUNTED) return { jobs, isMore: cursor !== null };
    } while (cursor);
  }
  return { jobs, isMore: false };
}
