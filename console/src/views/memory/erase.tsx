// Erasing a memory: what will go, and the question whether it shall.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, count } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { address, go, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";
import { ErasedRows } from "./erased-rows";

interface Properties {
  id: number;
  onClose: () => void;
  /** Reads the memory again: it is gone. */
  reload: () => void;
}

export function EraseDialog({ id, onClose, reload }: Properties): JSX.Element {
  const { path } = usePlace();
  const [typed, setTyped] = useState("");
  const answer = useAnswer((signal) => planOf(id, signal), [id]);
  const { value: plan } = answer;
  const act = async (): Promise<number | undefined> => {
    if (!plan) return undefined;
    try {
      const { erasure } = await htm.erasures.eraseMany({ ids: [id], plan: plan.plan, confirm: true });
      reload();
      return erasure?.id;
    } catch (failure) {
      // It may have changed since: what would go now is shown with the error.
      answer.reload();
      throw failure;
    }
  };
  const onDone = (erased: number | undefined): void => {
    go(address(path, { erased }), { replace: true });
    onClose();
  };
  return (
    <Confirm
      title={`Erase memory ${id}?`}
      verb="Erase for good"
      isDangerous
      isReady={plan !== undefined && !answer.error && typed.trim() === String(id)}
      act={act}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        It is removed at once, with every trace and for all robots. <strong>Nobody can bring it back.</strong> To hide
        it only, forget it instead.
      </p>
      <Awaited answer={answer}>{(plan) => plan && <Plan plan={plan} />}</Awaited>
      <label class="field">
        <span>Type {id} to confirm</span>
        <input
          class="input"
          inputMode="numeric"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  );
}

async function planOf(id: number, signal: AbortSignal): Promise<models.ErasePlan | undefined> {
  return (await htm.erasures.eraseMany({ ids: [id], dry_run: true }, { signal })).plan ?? undefined;
}

function Plan({ plan }: { plan: models.ErasePlan }): JSX.Element {
  const rows = Object.values(plan.removed).reduce((sum, rows) => sum + rows, 0);
  return (
    <>
      {plan.matches.map(({ node, excerpt, robot }) => (
        <blockquote key={node} class="small memory-plan">
          <p class="stored">{excerpt}</p>
          <p class="muted stored">remembered by {robot}</p>
        </blockquote>
      ))}
      <p>This will go: {count(rows, "row")} of the database.</p>
      <ErasedRows removed={plan.removed} />
      <p class="small muted">
        With it go tags that no other memory has, and answers that the server kept for retries. What stays: a receipt
        with numbers and no text, and an entry in the audit log. Backups and exported files are not seen from here.
      </p>
    </>
  );
}
