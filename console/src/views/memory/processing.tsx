// What was made of a text by workers: its meaning as a vector, and its tags.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited } from "../../components/basics";
import { htm, useAnswer, usePolled, type Answer } from "../../server";
import { Jobs, useJobs } from "./jobs";
import { StageRow } from "./stage";

const WATCHED_MS = 2_000;

// Something happens soon in these states.
const OPEN: ReadonlySet<models.StageStatus["state"]> = new Set(["pending", "running"]);

/** What became of the stages. It is asked again while something happens soon. */
export function useStatus({ id, revision }: models.Node): Answer<models.NodeStatus> {
  const status = useAnswer((signal) => htm.memories.status(id, { signal }), [id, revision]);
  const isOpen = status.value?.stages.some(({ state }) => OPEN.has(state)) ?? false;
  usePolled(status, isOpen ? WATCHED_MS : undefined);
  return status;
}

interface Properties {
  memory: models.Node;
  status: Answer<models.NodeStatus>;
  reload: () => void;
}

export function Processing({ memory: { id, revision }, status, reload }: Properties): JSX.Element {
  const jobs = useJobs(id, revision);
  const stages = status.value?.stages ?? [];
  useChange(stages.map(({ state }) => state).join(" "), () => {
    // A tagger may have added tags.
    reload();
    jobs.reload();
  });
  return (
    <section class="card" aria-labelledby="processing-title">
      <h2 id="processing-title">Processing</h2>
      <div class="stack">
        <Awaited answer={status} isPolled>
          {({ stages }) => (
            <ul class="memory-stages" aria-live="polite">
              {stages.map((stage) => (
                <StageRow key={stage.stage} stage={stage} memory={id} />
              ))}
            </ul>
          )}
        </Awaited>
        <Jobs answer={jobs} memory={id} />
      </div>
    </section>
  );
}

/** Calls back when a value that was there has become another one. */
function useChange(value: string, changed: () => void): void {
  const former = useRef(value);
  useEffect(() => {
    if (former.current && former.current !== value) changed();
    former.current = value;
  }, [value]);
}
