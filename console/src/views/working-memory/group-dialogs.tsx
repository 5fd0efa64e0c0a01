// What is done with a group as a whole.

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm, useAnswer } from "../../server";

interface Properties {
  group: models.GroupInfo;
  namespace: string | undefined;
  onClose: () => void;
  changed: () => void;
}

export function ShutDownDialog({ group: { name, members, nodes }, namespace, onClose, changed }: Properties): JSX.Element {
  const [isEmptied, setEmptied] = useState(false);
  const act = async (): Promise<void> => {
    await htm.groups.shutdown(name, { namespace, clear: isEmptied });
    changed();
    say(`${name} is shut down.`);
  };
  return (
    <Confirm title="Shut down the group" verb="Shut it down" isDangerous act={act} onClose={onClose}>
      <p>
        <strong class="stored">{name}</strong> has {count(members.length, "member")}. All of them leave, and programs that work as one of them are
        told so. This cannot be undone; robots that join again open the group again.
      </p>
      {nodes > 0 && (
        <label class="row choice">
          <input type="checkbox" checked={isEmptied} onChange={(event) => setEmptied(event.currentTarget.checked)} />
          <span>Also empty its working memory of {count(nodes, "memory", "memories")}. They stay in the long-term memory.</span>
        </label>
      )}
    </Confirm>
  );
}

const TARGETS = { robot: "A robot", group: "Another group" } as const;
type Target = keyof typeof TARGETS;
const PROPOSED = 1_000;

/** Moves the working memory of a group to a robot or another group. */
export function TransferDialog({ group: { name, nodes }, namespace, onClose, changed }: Properties): JSX.Element {
  const [target, setTarget] = useState<Target>("robot");
  const [to, setTo] = useState("");
  const names = useId();
  const proposed = useAnswer((signal) => namesOf(target, namespace, signal), [target, namespace]);
  const act = async (): Promise<void> => {
    const { transferred, evicted } = await htm.groups.transfer(name, { namespace, [`to_${target}`]: to.trim() });
    changed();
    const left = evicted.length > 0 ? `; ${count(evicted.length, "memory", "memories")} left there for it` : "";
    say(`${count(transferred.length, "memory", "memories")} moved to ${to.trim()}${left}.`);
  };
  return (
    <Confirm title="Hand over the working memory" verb="Hand it over" isReady={to.trim() !== ""} act={act} onClose={onClose}>
      <p>
        <strong class="stored">{name}</strong> has {count(nodes, "memory", "memories")} in working memory. They move to the working memory of another, in the
        same namespace, and leave this one. This cannot be undone.
      </p>
      <div class="row context-fields">
        <label class="field">
          <span>To</span>
          <select class="input" value={target} onChange={(event) => setTarget(event.currentTarget.value === "group" ? "group" : "robot")}>
            {Object.entries(TARGETS).map(([target, text]) => (
              <option key={target} value={target}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Its name</span>
          <input class="input" list={names} required value={to} autocomplete="off" onInput={(event) => setTo(event.currentTarget.value)} />
          <datalist id={names}>
            {(proposed.value ?? [])
              .filter((other) => target === "robot" || other !== name)
              .map((other) => (
                <option key={other} value={other} />
              ))}
          </datalist>
        </label>
      </div>
      <p class="small muted">
        {target === "robot"
          ? "A robot gets all of them. If they do not fit its budget, the least important leave when it is opened next and something comes in."
          : "What does not fit the budget of the other group stays here; the least important there leave."}
      </p>
    </Confirm>
  );
}

async function namesOf(target: Target, namespace: string | undefined, signal: AbortSignal): Promise<string[]> {
  if (target === "robot") {
    const { robots } = await htm.robots.list({ namespace, limit: PROPOSED }, { signal });
    return robots.map(({ name }) => name);
  }
  const groups = await htm.groups.list({ namespace }, { signal });
  return groups.filter(({ closed_at }) => !closed_at).map(({ name }) => name);
}
