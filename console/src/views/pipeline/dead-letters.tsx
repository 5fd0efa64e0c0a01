// The jobs that have failed for good.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import type { Answer } from "../../server";
import { JobList } from "./job-list";

export function DeadLetters({ queues }: { queues: Answer<models.QueueStats[]> }): JSX.Element {
  return (
    <section class="stack" aria-label="Dead letters">
      <div class="stack tight">
        <h2>Dead letters</h2>
        <p class="small muted">
          Jobs that have failed for good. Their memories are still found by their words. Mend the cause, then retry
          them. One is deleted by itself an hour after its memory is forgotten, edited, or has its result after all.
        </p>
      </div>
      <JobList
        path="/console/pipeline/dead-letters"
        state="dead"
        queues={queues.value ?? []}
        onChange={queues.reload}
      />
    </section>
  );
}
