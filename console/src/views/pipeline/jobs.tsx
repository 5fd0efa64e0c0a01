// All jobs.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import type { Answer } from "../../server";
import { JobList } from "./job-list";

export function Jobs({ queues }: { queues: Answer<models.QueueStats[]> }): JSX.Element {
  return (
    <section class="stack" aria-label="Jobs">
      <div class="stack tight">
        <h2>Jobs</h2>
        <p class="small muted">
          A memory has a job for its embedding by each model, and one for its tags. Those that need somebody come first,
          then the newest.
        </p>
      </div>
      <JobList path="/console/pipeline/jobs" queues={queues.value ?? []} onChange={queues.reload} />
    </section>
  );
}
