// What the parts of the pipeline are called, for people.

import type { models } from "htm-memory";
import { count } from "./basics";

/** The work of a queue: the queues of tags and of learning have fixed names, and any other one is of an embedding model. */
export function stageOf(queue: string): "Embedding" | "Learning" | "Tagging" {
  if (queue === "htm.learn") return "Learning";
  return queue === "htm.tag" ? "Tagging" : "Embedding";
}

/** The command that starts a worker of a queue. */
export function workerOf(queue: string): string {
  if (queue === "htm.learn") return "learn-worker";
  return queue === "htm.tag" ? "tag-worker" : `embed-worker --queue ${queue}`;
}

/** A queue by its stage and its model. */
export function queueName({ queue, model }: { queue: string; model?: string | null }): string {
  return model ? `${stageOf(queue)} (${model})` : stageOf(queue);
}

export const STATES: readonly models.JobState[] = ["due", "waiting", "parked", "running", "done", "dead"];

export const STATE_NAMES: Record<models.JobState, string> = {
  due: "Ready",
  waiting: "Waiting",
  parked: "Parked",
  running: "Running",
  done: "Done",
  dead: "Dead letter",
};

export const STATE_HINTS: Record<models.JobState, string> = {
  due: "The next free worker takes it.",
  waiting: "It failed, and is tried again after a pause.",
  parked: "It waits for tomorrow's budget, or until somebody retries it.",
  running: "A worker has it.",
  done: "Its result is stored. The server keeps it in this list for about an hour.",
  dead: "It failed for good. Nothing happens to it until somebody retries it.",
};

/** Of a plural of jobs: "3 dead letters", "1 parked job". */
export function jobsIn(state: models.JobState | undefined, plural: boolean): string {
  const noun = plural ? "jobs" : "job";
  if (state === undefined) return noun;
  if (state === "dead") return plural ? "dead letters" : "dead letter";
  return `${STATE_NAMES[state].toLowerCase()} ${noun}`;
}

/** That jobs are ready again, after a sentence; nothing if there are none. `kind`: why they were not. */
export function andReady(jobs: number, kind: string): string {
  return jobs > 0 ? ` ${count(jobs, `${kind} job is`, `${kind} jobs are`)} ready again.` : "";
}

export const PARKED_FOR: Record<models.ParkedFor, string> = {
  budget: "its namespace has spent its tokens of today",
  age: "it was put off for too long",
};

/** The codes that a job may fail with, in plain words. */
export const CODES: Readonly<Record<string, string>> = {
  provider_unusable_answer: "The model's answer could not be used",
  provider_refused_text: "The provider refused the text",
  provider_refused_all: "The provider refuses every text",
  provider_unreachable: "The provider could not be reached",
  provider_timeout: "The provider did not answer in time",
  provider_rate_limited: "The provider wants fewer requests",
  provider_server_error: "The provider failed",
  provider_unauthorized: "The provider refused the key",
  provider_quota_exceeded: "The account at the provider is used up",
  provider_model_not_found: "The provider has no such model",
  provider_other_dimensions: "The provider serves another model now",
  provider_bad_response: "The provider's answer was malformed",
  provider_held: "The provider is left alone for now",
  budget_spent: "The namespace has spent its tokens of today",
};

/** The error of a job in its parts. */
export interface Failure {
  /** The stable code. */
  code: string | undefined;
  text: string;
  /** The beginning of a language model's answer that could not be used. */
  said: string | undefined;
}

const SAID = "\nthe model said: ";

export function failureOf(error: string): Failure {
  const at = error.indexOf(SAID);
  const said = at < 0 ? undefined : error.slice(at + SAID.length);
  const rest = at < 0 ? error : error.slice(0, at);
  const [, code, text] = /^([a-z]+(?:_[a-z]+)+): (.*)$/s.exec(rest) ?? [];
  return { code, text: text ?? rest, said };
}
