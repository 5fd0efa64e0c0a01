// What the pipeline does now.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Awaited, Empty } from "../../components/basics";
import { htm, useAnswer, type Answer, usePolled } from "../../server";
import { Check } from "./check";
import { QueueCard } from "./queue-card";
import { Throughput } from "./throughput";
import { STATES, STATE_HINTS, STATE_NAMES } from "../../components/job-words";
import { Workers } from "./workers";

const WATCHED_MS = 2_000;
// As many as a few workers take at once. Of more, the number is shown.
const RUNNING_SHOWN = 200;

export function Overview({ queues }: { queues: Answer<models.QueueStats[]> }): JSX.Element {
  const work = useAnswer(async (signal) => {
    const at = Date.now();
    const [workers, running] = await Promise.all([
      htm.jobs.workers({ signal }),
      htm.jobs.list({ state: "running", limit: RUNNING_SHOWN }, { signal }),
    ]);
    return { workers, running: running.jobs, at };
  }, []);
  usePolled(work, WATCHED_MS);
  return (
    <>
      <Awaited answer={queues} isPolled>
        {(listed) =>
          listed.length === 0 ? (
            <Empty>
              <p>
                There is no queue yet. The first worker makes one: start <code>htm up</code>, or{" "}
                <code>embed-worker</code>, <code>tag-worker</code> and <code>learn-worker</code>.
              </p>
            </Empty>
          ) : (
            <>
              <div class="queues">
                {listed.map((queue) => (
                  <QueueCard key={queue.queue} queue={queue} reload={queues.reload} />
                ))}
              </div>
              <Glossary />
              <Throughput queues={listed} />
            </>
          )
        }
      </Awaited>
      {/* One error is enough when the server is away. */}
      {!queues.error && (
        <Awaited answer={work} isPolled>{(read) => <Workers {...read} />}</Awaited>
      )}
      <Check />
    </>
  );
}

function Glossary(): JSX.Element {
  return (
    <details class="small">
      <summary>What these words mean</summary>
      <dl class="glossary">
        <div>
          <dt>Embedding</dt>
          <dd>
            A model turns a memory into numbers, so that it is found by its meaning. Before that, it is found by its
            words.
          </dd>
        </div>
        <div>
          <dt>Tagging</dt>
          <dd>A memory gets tags that say what it is about.</dd>
        </div>
        {STATES.map((state) => (
          <div key={state}>
            <dt>{STATE_NAMES[state]}</dt>
            <dd>{STATE_HINTS[state]}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
