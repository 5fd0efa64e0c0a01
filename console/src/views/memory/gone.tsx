// Somebody has forgotten the memory while it was edited.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { attempt, say } from "../../components/toasts";
import { restore } from "../../components/memory-acts";

export function Gone({ memory: { id, namespace } }: { memory: models.Node }): JSX.Element {
  const [isActing, setActing] = useState(false);
  const bringBack = async (): Promise<void> => {
    setActing(true);
    if (await attempt(() => restore(id, namespace))) say(`Memory ${id} is restored. You can save now.`);
    setActing(false);
  };
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>This memory was forgotten or erased meanwhile.</strong> What you have typed is still here.
      </p>
      <p>
        <button type="button" class="button" disabled={isActing} onClick={bringBack}>
          Restore it
        </button>
      </p>
    </div>
  );
}
