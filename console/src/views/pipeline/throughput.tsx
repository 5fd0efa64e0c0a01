// The jobs that ended in the last hour: how many, how they ended, and how long they took.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Awaited } from "../../components/basics";
import { LineChart, type Line } from "../../components/line-chart";
import { htm, useAnswer, usePolled } from "../../server";
import { queueName } from "../../components/job-words";

const MINUTE_MS = 60_000;
const MINUTES = 60;
const WATCHED_MS = 5_000;

export function Throughput({ queues }: { queues: readonly models.QueueStats[] }): JSX.Element {
  const answer = useAnswer(async (signal) => {
    const at = Date.now();
    return { history: await htm.jobs.history({ minutes: MINUTES }, { signal }), at };
  }, []);
  usePolled(answer, WATCHED_MS);
  return (
    <section class="card stack">
      <h2>The last hour</h2>
      <Awaited answer={answer} isPolled>{(read) => <Charts queues={queues} {...read} />}</Awaited>
    </section>
  );
}

interface Properties {
  queues: readonly models.QueueStats[];
  history: readonly models.QueueMinute[];
  /** When it was asked for: of later minutes, nothing is known. */
  at: number;
}

function Charts({ queues, history, at }: Properties): JSX.Element {
  const last = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  const times = Array.from({ length: MINUTES }, (_, step) => last - (MINUTES - 1 - step) * MINUTE_MS);
  const counts = (value: (minute: models.QueueMinute) => number): Line[] =>
    lines(queues, history, times, value, 0);
  const dead = history.some((minute) => minute.dead > 0);
  return (
    <>
      <h3>Done jobs a minute</h3>
      <LineChart title="Done jobs a minute, by queue, in the last hour" times={times} lines={counts(({ done }) => done)} />
      {dead && (
        <>
          <h3>Dead letters a minute</h3>
          <LineChart title="Dead letters a minute, by queue, in the last hour" times={times} lines={counts((minute) => minute.dead)} />
        </>
      )}
      <h3>Milliseconds from due to done, the median</h3>
      <LineChart
        title="Milliseconds from when a job is due until it is done, the median of a minute, by queue"
        times={times}
        lines={lines(queues, history, times, ({ median_ms }) => median_ms ?? null, null)}
      />
      <h3>Milliseconds from due to done, which 95 of 100 jobs do not exceed</h3>
      <LineChart
        title="Milliseconds from when a job is due until it is done, the 95th percentile of a minute, by queue"
        times={times}
        lines={lines(queues, history, times, ({ p95_ms }) => p95_ms ?? null, null)}
      />
      <p class="small muted">Done jobs that were pruned are not counted. A dead letter that is retried is no longer one.</p>
    </>
  );
}

/** A line for each queue. `none`: the value of a minute in which no job ended. */
function lines(
  queues: readonly models.QueueStats[],
  history: readonly models.QueueMinute[],
  times: readonly number[],
  value: (minute: models.QueueMinute) => number | null,
  none: number | null,
): Line[] {
  return queues.map((queue) => {
    const minutes = history.filter((minute) => minute.queue === queue.queue);
    const values = new Map(minutes.map((minute) => [Date.parse(minute.minute), value(minute)]));
    return { name: queueName(queue), values: times.map((time) => values.get(time) ?? none) };
  });
}
