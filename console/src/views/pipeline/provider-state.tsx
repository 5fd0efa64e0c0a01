// Whether a provider's model is called.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Time, count, duration } from "../../components/basics";
import { FailureText } from "./failure";

/** Whether it is called, and if not, why. */
export function ProviderState({ provider }: { provider: models.Provider | undefined }): JSX.Element {
  const good = (
    <span class="state-good">
      <span aria-hidden="true">✓ </span>
      {provider ? "It may be called" : "No failure"}
    </span>
  );
  if (!provider) return good;
  const { breaker, failures, reason, retry_at, held_ms } = provider;
  return (
    <>
      {breaker === "open" && (
        <strong class="state-bad">
          <span aria-hidden="true">✕ </span>Left alone
        </strong>
      )}
      {breaker === "half_open" && (
        <strong class="state-warn">
          <span aria-hidden="true">◐ </span>Tried with one job
        </strong>
      )}
      {breaker === "closed" &&
        (held_ms || failures > 0 || reason ? (
          <strong class="state-warn">
            <span aria-hidden="true">◐ </span>
            {warningOf(provider)}
          </strong>
        ) : (
          good
        ))}
      {held_ms ? <span>, next call in {duration(held_ms)}</span> : null}
      {failures > 0 && <p class="small">{count(failures, "failed call")} in a row</p>}
      {reason && <FailureText error={reason} />}
      {breaker === "open" && retry_at && !held_ms && (
        <p class="small">
          Next try <Time at={retry_at} />
        </p>
      )}
    </>
  );
}

/** What is wrong although it may be called. A worker that did not start has a reason, and no failed call. */
function warningOf({ failures, held_ms }: models.Provider): string {
  if (held_ms) return "It asked to wait";
  if (failures === 0) return "It did not work last time";
  return failures === 1 ? "Its last call failed" : "Its last calls failed";
}
