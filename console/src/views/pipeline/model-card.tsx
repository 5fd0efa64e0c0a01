// An embedding model, and what can be done with it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Bar, count, number } from "../../components/basics";
import { Link, address } from "../../router";
import { ActivateDialog } from "./activate";
import { RetireDialog } from "./retire";

const STATES: Record<models.ModelState, { name: string; hint: string }> = {
  active: { name: "Active", hint: "Searches use it." },
  building: { name: "Building", hint: "New memories are embedded by it too. Searches do not use it yet." },
  standby: {
    name: "On standby",
    hint: "It was active before, and is kept up to date. It can be activated again at once.",
  },
  retired: { name: "Retired", hint: "Nothing is embedded by it any more." },
};

interface Properties {
  model: models.Model;
  backfill: () => void;
  reload: () => void;
}

export function ModelCard({ model, backfill, reload }: Properties): JSX.Element {
  const [asked, setAsked] = useState<"activate" | "retire">();
  const { name, hint } = STATES[model.state];
  const isInUse = model.state !== "retired";
  return (
    <section class="card stack queue" aria-label={`Model ${model.label}`}>
      <div>
        <h3 class="stored">{model.label}</h3>
        <p>
          <strong class={model.state === "active" ? "state-good" : isInUse ? "" : "muted"}>
            {model.state === "active" && <span aria-hidden="true">✓ </span>}
            {name}
          </strong>{" "}
          <span class="small muted">{hint}</span>
        </p>
      </div>
      <Progress model={model} />
      <p class="small muted stored">
        {count(model.dimensions, "number")} a vector · {(model.bytes / 1e6).toFixed(1)} MB ·{" "}
        {model.indexed ? "index ready" : isInUse ? "no index yet: activating it builds one" : "no index"} ·{" "}
        {model.queue ? (
          <>
            queue <code>{model.queue}</code>
          </>
        ) : (
          "programs bring its vectors"
        )}
      </p>
      {isInUse && (
        <div class="row">
          {model.queue && (
            <button type="button" class="button" onClick={backfill}>
              Embed older memories … <span class="hidden-label">by {model.label}</span>
            </button>
          )}
          {model.state === "active" ? (
            <span class="small muted">To retire it, activate another one first.</span>
          ) : (
            <>
              <button type="button" class="button" onClick={() => setAsked("activate")}>
                Activate … <span class="hidden-label">{model.label}</span>
              </button>
              <button type="button" class="button danger" onClick={() => setAsked("retire")}>
                Retire … <span class="hidden-label">{model.label}</span>
              </button>
            </>
          )}
        </div>
      )}
      {asked === "activate" && <ActivateDialog model={model} onClose={() => setAsked(undefined)} reload={reload} />}
      {asked === "retire" && <RetireDialog model={model} onClose={() => setAsked(undefined)} reload={reload} />}
    </section>
  );
}

function Progress({ model }: { model: models.Model }): JSX.Element {
  const { embedded, nodes, open, dead } = model;
  // Rounded down, so that only a complete model has 100 %.
  const percent = nodes === 0 ? 100 : Math.floor((1000 * embedded) / nodes) / 10;
  const said = `${number(embedded)} of ${count(nodes, "memory", "memories")}`;
  return (
    <div class="stack tight">
      <Bar
        label={`Embedded: ${said}, ${percent} %`}
        whole={Math.max(1, nodes)}
        parts={[{ name: "embedded", value: embedded, series: 1 }]}
      />
      <p class="small">
        {said} ({percent} %)
        {model.queue && open > 0 && (
          <>
            {" · "}
            <Link to={address("/console/pipeline/jobs", { queue: model.queue, namespace: null })}>
              {count(open, "open job")}
            </Link>
          </>
        )}
        {model.queue && dead > 0 && (
          <>
            {" · "}
            <Link to={address("/console/pipeline/dead-letters", { queue: model.queue, namespace: null })}>
              {count(dead, "dead letter")}
            </Link>
          </>
        )}
      </p>
    </div>
  );
}
