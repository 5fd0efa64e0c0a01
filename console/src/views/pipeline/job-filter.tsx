// What a list of jobs is narrowed to.

import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { models } from "htm-memory";
import { useEntered } from "../../components/entered";
import { useNamespaces } from "../../components/namespace";
import type { JobQuery } from "./job-query";
import { CODES, STATES, STATE_NAMES, queueName } from "../../components/job-words";

// Longer numbers are rounded, and would be of another memory or of none.
const MEMORY = "0*[1-9][0-9]{0,14}";

interface Properties {
  query: JobQuery;
  set: (change: Partial<JobQuery>) => void;
  queues: readonly models.QueueStats[];
  /** Whether a state can be chosen. */
  hasStates: boolean;
}

export function JobFilter({ query, set, queues, hasStates }: Properties): JSX.Element {
  const codes = useId();
  const error = useEntered(query.error, (text) => set({ error: text.trim() }));
  const memory = useEntered(String(query.memory ?? ""), (text) => set({ memory: Number(text) || undefined }));
  return (
    <form class="job-filter" role="search" aria-label="Jobs" onSubmit={(event) => event.preventDefault()}>
      {hasStates && <StateField query={query} set={set} />}
      <QueueField query={query} set={set} queues={queues} />
      <NamespaceField query={query} set={set} />
      <label class="field">
        <span>Error has the words</span>
        <input {...error} class="input" list={codes} placeholder="Any error" />
        <datalist id={codes}>
          {Object.entries(CODES).map(([code, text]) => (
            <option key={code} value={code}>
              {text}
            </option>
          ))}
        </datalist>
      </label>
      <label class="field">
        <span>Memory</span>
        <input
          {...memory}
          class="input"
          inputMode="numeric"
          pattern={MEMORY}
          title="A memory has a whole number, such as 12"
          placeholder="Any"
        />
      </label>
      {isNarrowed(query, hasStates) && (
        <button
          type="button"
          class="button quiet"
          onClick={() =>
            set({ queue: "", namespace: "", error: "", memory: undefined, ...(hasStates && { state: undefined }) })
          }
        >
          Clear
        </button>
      )}
    </form>
  );
}

/** Whether anything but a fixed state narrows the list. */
export function isNarrowed({ queue, namespace, error, memory, state }: JobQuery, hasStates: boolean): boolean {
  return Boolean(queue || namespace || error || memory || (hasStates && state));
}

function StateField({ query, set }: Pick<Properties, "query" | "set">): JSX.Element {
  return (
    <label class="field">
      <span>State</span>
      <select
        class="input"
        value={query.state ?? ""}
        onChange={(event) => set({ state: STATES.find((state) => state === event.currentTarget.value) })}
      >
        <option value="">All but done</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {STATE_NAMES[state]}
          </option>
        ))}
      </select>
    </label>
  );
}

function QueueField({ query, set, queues }: Pick<Properties, "query" | "set" | "queues">): JSX.Element {
  const isKnown = !query.queue || queues.some(({ queue }) => queue === query.queue);
  return (
    <label class="field">
      <span>Queue</span>
      <select class="input" value={query.queue} onChange={(event) => set({ queue: event.currentTarget.value })}>
        <option value="">All queues</option>
        {!isKnown && <option value={query.queue}>{query.queue}</option>}
        {queues.map((queue) => (
          <option key={queue.queue} value={queue.queue}>
            {queueName(queue)}
          </option>
        ))}
      </select>
    </label>
  );
}

// The same namespace as in the head of the page. Without one, jobs are of all of them.
function NamespaceField({ query, set }: Pick<Properties, "query" | "set">): JSX.Element {
  const { names, others } = useNamespaces();
  const isKnown = !query.namespace || names.includes(query.namespace);
  return (
    <label class="field">
      <span>Namespace</span>
      <select class="input" value={query.namespace} onChange={(event) => set({ namespace: event.currentTarget.value })}>
        <option value="">All namespaces</option>
        {!isKnown && <option value={query.namespace}>{query.namespace}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        {others}
      </select>
    </label>
  );
}
