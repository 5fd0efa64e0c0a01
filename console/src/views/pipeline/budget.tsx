// The budget of a namespace.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count, number } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { NamespaceField } from "../../components/namespace";
import { say } from "../../components/toasts";
import { htm } from "../../server";
import { andReady } from "../../components/job-words";

interface Properties {
  /** The one to change; none: a new one. */
  budget: models.Budget | undefined;
  known: readonly models.Budget[];
  onClose: () => void;
  reload: () => void;
}

export function BudgetDialog({ budget, known, onClose, reload }: Properties): JSX.Element {
  const [namespace, setNamespace] = useState(budget?.namespace ?? "");
  const [tokens, setTokens] = useState(budget ? String(budget.tokens_per_day) : "");
  const of = namespace.trim();
  const before = known.find(({ namespace }) => namespace === of);
  const act = async (): Promise<void> => {
    const { jobs } = await htm.models.setBudget({ namespace: of, tokens_per_day: Number(tokens) });
    const undo = async (): Promise<void> => {
      await htm.models.setBudget({ namespace: of, tokens_per_day: before?.tokens_per_day ?? null });
      reload();
    };
    const hint = (await isEmpty(of)) ? " No memory is in that namespace yet: is its name right?" : "";
    const done = `${of} may spend ${count(Number(tokens), "token")} a day.${andReady(jobs, "parked")}`;
    say(`${done}${hint}`, undo, { about: `budget of ${of}` });
    reload();
  };
  return (
    <Confirm
      title={budget ? "Change a budget" : "Set a budget"}
      verb="Save"
      isReady={of !== "" && tokens !== ""}
      act={act}
      onClose={onClose}
    >
      {budget ? (
        <p>
          Namespace <strong class="stored">{budget.namespace}</strong>
        </p>
      ) : (
        <NamespaceField value={namespace} set={setNamespace} required autofocus />
      )}
      <label class="field">
        <span>Tokens a day</span>
        <input
          class="input"
          type="number"
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          value={tokens}
          required
          onInput={(event) => setTokens(event.currentTarget.value)}
        />
      </label>
      {!budget && before && (
        <p class="notice small">It has a budget of {number(before.tokens_per_day)} already, which this replaces.</p>
      )}
      <p class="small muted">
        With 0, nothing of this namespace is sent to a provider. Jobs that were parked are ready again when there is
        room.
      </p>
    </Confirm>
  );
}

/** Whether no memory is in a namespace. If that cannot be known, there may be some. */
async function isEmpty(namespace: string): Promise<boolean> {
  try {
    // The first of those that begin with its labels is itself.
    const { namespaces } = await htm.namespaces.list({ prefix: namespace, limit: 1 });
    return namespaces[0] !== namespace;
  } catch {
    return false;
  }
}
