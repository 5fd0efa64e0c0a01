// The form of a change: its fields, what it would do, and the button that does it.

import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { models } from "htm-memory";
import { Problem } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { onTheWay } from "../../components/on-the-way";
import { useAnswer, type Answer } from "../../server";
import { hasEffect, send, type Request } from "./changes";
import { useHere } from "./here";
import { Plan } from "./plan";
import { Refused } from "./refused";

// While somebody types, a rehearsal is asked for when the fingers rest.
const REST_MS = 250;

interface Properties {
  title: string;
  verb: string;
  isDangerous?: boolean;
  /** What would be sent; none while the form is incomplete. */
  request: Request | undefined;
  /** What is missing, while the form is incomplete. */
  missing?: string;
  onClose: () => void;
  children?: ComponentChildren;
}

export function ChangeDialog({
  title,
  verb,
  isDangerous,
  request,
  missing,
  onClose,
  children,
}: Properties): JSX.Element {
  const { namespace, made } = useHere();
  const key = useMemo(() => request && JSON.stringify(request), [request]);
  const rehearsal = useRehearsal(request, key, namespace);
  const planned = rehearsal.value?.key === key && !rehearsal.error ? rehearsal.value?.changed : undefined;
  const act = async (): Promise<void> => {
    if (request) made(request, await send(request, namespace, false));
  };
  const isReady = planned !== undefined && hasEffect(planned);
  return (
    <Confirm title={title} verb={verb} isDangerous={isDangerous === true} isReady={isReady} act={act} onClose={onClose}>
      {children}
      <section class="tag-preview" aria-label="What will change" aria-live="polite" aria-busy={rehearsal.isLoading}>
        <h3>What will change</h3>
        <Rehearsed request={request} planned={planned} rehearsal={rehearsal} missing={missing} />
      </section>
      <p class="small muted">
        Nothing is changed until you press “{verb}”. Afterwards you can undo it, here or in the history.
      </p>
    </Confirm>
  );
}

interface RehearsedProperties {
  request: Request | undefined;
  planned: models.Changed | undefined;
  rehearsal: Answer<unknown>;
  missing: string | undefined;
}

function Rehearsed({ request, planned, rehearsal, missing }: RehearsedProperties): JSX.Element {
  if (!request) return <p class="muted">{missing}</p>;
  if (planned) return <Plan changed={planned} />;
  if (rehearsal.error && onTheWay(rehearsal.error)) return <Problem error={rehearsal.error} asked={rehearsal} />;
  if (rehearsal.error && !rehearsal.isLoading) return <Refused error={rehearsal.error} request={request} />;
  return <p class="muted">Looking …</p>;
}

interface Rehearsal {
  key: string;
  changed: models.Changed;
}

function useRehearsal(
  request: Request | undefined,
  key: string | undefined,
  namespace: string | undefined,
): Answer<Rehearsal | null> {
  return useAnswer(
    async (signal) => {
      if (!request || key === undefined) return null;
      await rest(signal);
      return { key, changed: await send(request, namespace, true, signal) };
    },
    [key, namespace],
  );
}

function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, REST_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
