// Whether every memory has its results, or a job for them.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Problem, count } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { attempt, say } from "../../components/toasts";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";

const STRANDED_SHOWN = 100;

const LOST: Record<models.Loss, string> = {
  job: "no result, no job, no dead letter",
  vector: "done, but its vector is missing",
};

export function Check(): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const [isActing, setActing] = useState(false);
  const audit = useAnswer(async (signal) => (isAsked ? htm.jobs.audit({ signal }) : undefined), [isAsked]);
  const repair = async (): Promise<void> => {
    setActing(true);
    await attempt(async () => say(`${count((await htm.jobs.repair()).jobs, "job")} made.`));
    setActing(false);
    audit.reload();
  };
  return (
    <section class="card stack check">
      <h2>Is anything lost?</h2>
      <p class="small muted">
        Looks whether every memory has its result, a job, or a dead letter. It reads every memory.
      </p>
      {audit.error && <Problem error={audit.error} />}
      <div role="status">{audit.value && <Found audit={audit.value} />}</div>
      <p class="row">
        <button
          type="button"
          class="button"
          disabled={isAsked && audit.isLoading}
          onClick={() => (isAsked ? audit.reload() : setAsked(true))}
        >
          {isAsked && audit.isLoading ? "Checking …" : audit.value ? "Check again" : "Check"}
        </button>
        {audit.value && audit.value.stranded.length > 0 && (
          <button type="button" class="button primary" disabled={isActing} onClick={() => void repair()}>
            Make the missing jobs
          </button>
        )}
      </p>
    </section>
  );
}

function Found({ audit }: { audit: models.Audit }): JSX.Element {
  const { stranded } = audit;
  const facts = [
    audit.dead_letters > 0 && `${count(audit.dead_letters, "dead letter")}.`,
    audit.awaiting_rescue > 0 &&
      `${count(audit.awaiting_rescue, "job")} of lost workers, which others take over by themselves.`,
    audit.unheld > 0 && `${count(audit.unheld, "job")} that a worker has forgotten, and gives back by itself.`,
    !audit.states_guarded && "The database does not refuse jobs in an impossible state: run `htm db migrate`.",
  ].filter((fact) => typeof fact === "string");
  return (
    <div class="stack">
      <p>
        {stranded.length === 0 ? (
          <strong class="state-good">
            <span aria-hidden="true">✓ </span>Nothing is lost.
          </strong>
        ) : (
          <strong class="state-bad">
            <span aria-hidden="true">✕ </span>
            {count(stranded.length, "result is", "results are")} missing, and no job makes{" "}
            {stranded.length === 1 ? "it" : "them"}.
          </strong>
        )}{" "}
        {facts.join(" ")}
      </p>
      {stranded.length > 0 && <Missing stranded={stranded} />}
    </div>
  );
}

function Missing({ stranded }: { stranded: readonly models.Stranded[] }): JSX.Element {
  return (
    <TableBox label="Missing results">
      <Heads columns={["Memory", "Namespace", "What is missing"]} />
      <tbody>
        {stranded.slice(0, STRANDED_SHOWN).map(({ node, namespace, stage, lost }) => (
          <tr key={`${node} ${stage}`}>
            <td>
              <Link to={address(`/console/memories/${node}`, { namespace: null })}>Memory {node}</Link>
            </td>
            <td class="stored">{namespace}</td>
            <td>{LOST[lost]}</td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
}
