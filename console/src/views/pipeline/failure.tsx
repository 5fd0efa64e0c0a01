// The error of a job: in plain words, as it was, and what the model said.

import type { JSX } from "preact";
import { CODES, failureOf } from "../../components/job-words";

/** `isShort`: the first lines of each part only. */
export function FailureText({ error, isShort = false }: { error: string; isShort?: boolean }): JSX.Element {
  const { code, text, said } = failureOf(error);
  const name = code === undefined ? undefined : CODES[code];
  return (
    <div class="failure">
      {code && (
        <p>
          {name && <strong>{name} </strong>}
          <code class="muted small">{code}</code>
        </p>
      )}
      <p class={`small stored ${isShort ? "clamped" : ""}`}>{text}</p>
      {said !== undefined && (
        <figure class="said small">
          <figcaption class="muted">The model said:</figcaption>
          <blockquote class={`stored ${isShort ? "clamped" : ""}`}>{said || "(nothing)"}</blockquote>
        </figure>
      )}
    </div>
  );
}
