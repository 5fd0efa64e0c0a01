// Something that is done to all jobs that match, with their number first.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Problem, count } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm, useAnswer } from "../../server";
import { sayRetried } from "./job-acts";
import { conditions, countJobs, type JobQuery } from "./job-query";
import { jobsIn } from "../../components/job-words";

export type Act = "retry" | "cancel";

interface Properties {
  act: Act;
  query: JobQuery;
  onClose: () => void;
  reload: () => void;
}

const OPEN: readonly models.JobState[] = ["due", "waiting", "parked", "running"];

const EFFECTS: Record<Act, string> = {
  retry:
    "They start again as if they were new. Retry when the cause is mended; otherwise they fail again, and a model " +
    "that costs money is paid again. What matches by then is retried, also what came after the count.",
  cancel:
    "They become dead letters, and their memories stay without the result. What matches by then is cancelled, also " +
    "what came after the count.",
};

/** The state of the jobs that it is done to: without one, dead letters are retried, and open jobs cancelled. */
function statesOf(act: Act, state: models.JobState | undefined): readonly models.JobState[] {
  if (state) return [state];
  return act === "retry" ? ["dead"] : OPEN;
}

export function Bulk({ act, query, onClose, reload }: Properties): JSX.Element {
  const states = statesOf(act, query.state);
  const counted = useAnswer((signal) => countJobs(query, states, signal), [JSON.stringify(query), act]);
  const jobs = counted.value?.jobs ?? 0;
  const isMore = counted.value?.isMore ?? false;
  const state = states.length === 1 ? states[0] : undefined;
  const many = counted.value
    ? `${isMore ? "more than " : ""}${count(jobs, jobsIn(state, false), jobsIn(state, true))}`
    : jobsIn(state, true);
  const verb = act === "retry" ? "Retry" : "Cancel";
  const run = async (): Promise<void> => {
    const selection = conditions({ ...query, state: query.state ?? (act === "retry" ? "dead" : undefined) });
    if (act === "retry") {
      sayRetried(await htm.jobs.retry(selection));
    } else {
      const { jobs } = await htm.jobs.cancel({ ...selection, confirm: true });
      say(`${count(jobs, "job is", "jobs are")} cancelled.`);
    }
    reload();
  };
  return (
    <Confirm
      title={`${verb} all that match`}
      verb={counted.value ? `${verb} ${many}` : verb}
      leave={act === "cancel" ? "Keep them" : undefined}
      isDangerous={act === "cancel"}
      isReady={jobs > 0}
      act={run}
      onClose={onClose}
    >
      {counted.error && <Problem error={counted.error} asked={counted} />}
      <p role="status">
        {counted.isLoading ? "Counting …" : counted.value && (jobs === 0 ? "No job matches." : `${jobs === 1 && !isMore ? "This is" : "These are"} ${many}.`)}
      </p>
      <Conditions query={query} />
      <p>{EFFECTS[act]}</p>
    </Confirm>
  );
}

function Conditions({ query }: { query: JobQuery }): JSX.Element {
  const facts = [
    { name: "Queue", value: query.queue || "all" },
    { name: "Namespace", value: query.namespace || "all" },
    ...(query.error ? [{ name: "Error has", value: query.error }] : []),
    ...(query.memory ? [{ name: "Memory", value: String(query.memory) }] : []),
  ];
  return (
    <dl class="facts small">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="stored">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
