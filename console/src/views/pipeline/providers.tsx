// The providers of models: whether they answer, what they may be asked, and what namespaces may spend.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, count, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { attempt, say } from "../../components/toasts";
import { htm, useAnswer, type Answer, usePolled } from "../../server";
import { Budgets } from "./budgets";
import { LimitsDialog } from "./limits";
import { ProviderState } from "./provider-state";
import { Usage } from "./usage";
import { andReady } from "../../components/job-words";

const WATCHED_MS = 5_000;

export function Providers({ queues }: { queues: Answer<models.QueueStats[]> }): JSX.Element {
  const providers = useAnswer((signal) => htm.models.providers({ signal }), []);
  usePolled(providers, WATCHED_MS);
  return (
    <>
      <section class="stack" aria-label="Models and their limits">
        <div class="stack tight">
          <h2>Models and their limits</h2>
          <p class="small muted">
            A limit holds for all workers together. When calls to a model keep failing, all workers leave it alone for a
            while: the breaker is open. Searches do not wait for these limits.
          </p>
        </div>
        <Awaited answer={providers} isPolled>
          {(listed) => <Listed providers={listed} queues={queues.value ?? []} reload={providers.reload} />}
        </Awaited>
      </section>
      <Budgets />
      <Usage />
    </>
  );
}

interface Known {
  model: string;
  /** None: it has no limits, and has not failed. */
  provider?: models.Provider;
}

/** The server lists only models with limits or failures. The queues tell which others are in use. */
function withUnlimited(providers: readonly models.Provider[], queues: readonly models.QueueStats[]): Known[] {
  const names = new Set([...queues.flatMap(({ model }) => model ?? []), ...providers.map(({ model }) => model)]);
  return [...names]
    .sort()
    .map((model) => ({ model, provider: providers.find((provider) => provider.model === model) }));
}

interface ListedProperties {
  providers: readonly models.Provider[];
  queues: readonly models.QueueStats[];
  reload: () => void;
}

function Listed({ providers, queues, reload }: ListedProperties): JSX.Element {
  const [limited, setLimited] = useState<{ model?: string }>();
  const all = withUnlimited(providers, queues);
  return (
    <>
      {all.length === 0 ? (
        <Empty>
          <p>No model is in use yet. The first worker registers one.</p>
        </Empty>
      ) : (
        <TableBox label="Models and their limits">
          <Heads columns={["Model", "State", "Limits", { hidden: "Actions" }]} />
          <tbody>
            {all.map((known) => (
              <Row key={known.model} known={known} change={() => setLimited({ model: known.model })} reload={reload} />
            ))}
          </tbody>
        </TableBox>
      )}
      <p>
        <button type="button" class="button" onClick={() => setLimited({})}>
          Limit another model …
        </button>
      </p>
      {limited && (
        <LimitsDialog
          model={limited.model}
          known={providers}
          onClose={() => setLimited(undefined)}
          reload={reload}
        />
      )}
    </>
  );
}

function Row({
  known: { model, provider },
  change,
  reload,
}: {
  known: Known;
  change: () => void;
  reload: () => void;
}): JSX.Element {
  return (
    <tr>
      <td class="model-name">
        <code class="stored">{model}</code>
      </td>
      <td class="provider-state">
        <ProviderState provider={provider} />
      </td>
      <td class="limits">
        <LimitsText provider={provider} />
      </td>
      <td>
        <div class="row job-acts">
          <button type="button" class="button" onClick={change}>
            Limits … <span class="hidden-label">of {model}</span>
          </button>
          {provider && (provider.breaker !== "closed" || provider.failures > 0 || provider.held_ms) && (
            <ResetButton model={model} reload={reload} />
          )}
        </div>
      </td>
    </tr>
  );
}

function LimitsText({ provider }: { provider: models.Provider | undefined }): JSX.Element {
  const { requests_per_minute, tokens_per_minute, concurrent_calls, calls = 0, waiting = 0 } = provider ?? {};
  const limits = [
    requests_per_minute && `${count(requests_per_minute, "request")} a minute`,
    tokens_per_minute && `${count(tokens_per_minute, "token")} a minute`,
    concurrent_calls && `${count(concurrent_calls, "call")} at once, ${number(calls)} now`,
  ].filter((limit) => typeof limit === "string");
  if (limits.length === 0) return <span class="muted">None</span>;
  return (
    <ul>
      {limits.map((limit) => (
        <li key={limit}>{limit}</li>
      ))}
      {waiting > 0 && <li class="state-warn">{count(waiting, "call")} in line</li>}
    </ul>
  );
}

function ResetButton({ model, reload }: { model: string; reload: () => void }): JSX.Element {
  const [isActing, setActing] = useState(false);
  const reset = async (): Promise<void> => {
    setActing(true);
    await attempt(async () => {
      const { jobs } = await htm.models.resetProvider({ model });
      say(`${model} is called again at once.${andReady(jobs, "put-off")}`);
    });
    setActing(false);
    reload();
  };
  return (
    <button type="button" class="button" disabled={isActing} onClick={() => void reset()}>
      Try now <span class="hidden-label">{model}</span>
    </button>
  );
}
