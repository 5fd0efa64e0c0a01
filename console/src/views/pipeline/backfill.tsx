// The start of a backfill, with the number of its jobs first.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Problem, count } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { NamespaceField } from "../../components/namespace";
import { say } from "../../components/toasts";
import { htm, useAnswer } from "../../server";

export interface Wanted {
  stage: models.Stage;
  model?: string;
}

interface Properties {
  wanted: Wanted;
  models: readonly models.Model[];
  onClose: () => void;
  reload: () => void;
}

export function BackfillDialog({ wanted, models: known, onClose, reload }: Properties): JSX.Element {
  const [stage, setStage] = useState(wanted.stage);
  const embedding = known.filter(({ queue, state }) => queue && state !== "retired");
  const [model, setModel] = useState(wanted.model ?? embedding[0]?.label ?? "");
  const [namespace, setNamespace] = useState("");
  const [since, setSince] = useState("");
  const [isForced, setForced] = useState(false);
  const asked: models.NewBackfill = {
    stage,
    model: stage === "embed" ? model : null,
    namespace: namespace.trim() || null,
    since: since ? new Date(`${since}T00:00`).toISOString() : null,
    force: isForced,
  };
  const counted = useAnswer((signal) => countMissing(asked, signal), [JSON.stringify(asked)]);
  const jobs = counted.isLoading ? undefined : counted.value;
  const act = async (): Promise<void> => {
    await htm.backfills.start(asked);
    say("The backfill goes on in the background, behind everything new.");
    reload();
  };
  return (
    <Confirm
      title="Backfill"
      verb={jobs ? `Make ${count(jobs, "job")}` : "Start"}
      isReady={jobs !== undefined && jobs > 0}
      act={act}
      onClose={onClose}
    >
      <p class="small muted">
        It makes jobs for memories that lack a result: those that were written before a model was added, for example.
      </p>
      <div class="columns fields">
        <label class="field">
          <span>What is missing</span>
          <select
            class="input"
            value={stage}
            onChange={(event) => setStage(event.currentTarget.value === "tag" ? "tag" : "embed")}
          >
            <option value="embed">Embeddings</option>
            <option value="tag">Tags</option>
          </select>
        </label>
        {stage === "embed" && (
          <label class="field">
            <span>Model</span>
            <select class="input" value={model} onChange={(event) => setModel(event.currentTarget.value)}>
              {embedding.map(({ label }) => (
                <option key={label} value={label}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
        <NamespaceField value={namespace} set={setNamespace} placeholder="All namespaces" />
        <label class="field">
          <span>Written since</span>
          <input class="input" type="date" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
        </label>
      </div>
      <label class="row choice">
        <input type="checkbox" checked={isForced} onChange={(event) => setForced(event.currentTarget.checked)} />
        <span>
          Also memories that have the result already. They are done again; a model that costs money is paid again.
        </span>
      </label>
      {counted.error && <Problem error={counted.error} asked={counted} />}
      <p role="status">
        {counted.isLoading
          ? "Counting …"
          : jobs === 0
            ? "Nothing is missing."
            : jobs !== undefined && `It would make ${count(jobs, "job")}.`}
      </p>
    </Confirm>
  );
}

async function countMissing(asked: models.NewBackfill, signal: AbortSignal): Promise<number | undefined> {
  const counted = await htm.backfills.start({ ...asked, dry_run: true }, { signal });
  return "would_enqueue" in counted ? counted.would_enqueue : undefined;
}
