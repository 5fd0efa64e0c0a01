// The embedding models, and what they have embedded.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty } from "../../components/basics";
import { htm, useAnswer, type Answer, usePolled } from "../../server";
import { AddModel } from "./add-model";
import { Backfills } from "./backfills";
import { BackfillDialog, type Wanted } from "./backfill";
import { Compare } from "./compare";
import { ModelCard } from "./model-card";

// The list reads every memory.
const WATCHED_MS = 5_000;

export function Models({ queues }: { queues: Answer<models.QueueStats[]> }): JSX.Element {
  const listed = useAnswer((signal) => htm.models.list({ signal }), []);
  const runs = useAnswer((signal) => htm.backfills.list({ limit: 20 }, { signal }), []);
  usePolled(listed, WATCHED_MS);
  usePolled(runs, WATCHED_MS);
  const [wanted, setWanted] = useState<Wanted>();
  const reload = (): void => {
    listed.reload();
    runs.reload();
    queues.reload();
  };
  return (
    <>
      <section class="stack" aria-label="Embedding models">
        <div class="stack tight">
          <h2>Embedding models</h2>
          <p class="small muted">
            Each model keeps vectors of its own. Searches use the active one. Another one can be built beside it, and
            activated when it has embedded all memories.
          </p>
        </div>
        <Awaited answer={listed} isPolled>
          {(all) =>
            all.length === 0 ? (
              <Empty>
                <p>
                  No model is registered yet. Start <code>htm up</code> or an <code>embed-worker</code>.
                </p>
              </Empty>
            ) : (
              <div class="queues">
                {retiredLast(all).map((model) => (
                  <ModelCard
                    key={model.label}
                    model={model}
                    backfill={() => setWanted({ stage: "embed", model: model.label })}
                    reload={reload}
                  />
                ))}
              </div>
            )
          }
        </Awaited>
        <AddModel reload={reload} />
      </section>
      <Backfills runs={runs} queues={queues.value ?? []} start={() => setWanted({ stage: "tag" })} reload={reload} />
      <Compare models={listed.value ?? []} />
      {wanted && (
        <BackfillDialog
          wanted={wanted}
          models={listed.value ?? []}
          onClose={() => setWanted(undefined)}
          reload={reload}
        />
      )}
    </>
  );
}

function retiredLast(all: readonly models.Model[]): models.Model[] {
  return all.toSorted((one, other) => Number(one.state === "retired") - Number(other.state === "retired"));
}
