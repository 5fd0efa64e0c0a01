// How a model is added.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm } from "../../server";

export function AddModel({ reload }: { reload: () => void }): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  return (
    <details>
      <summary>Add a model</summary>
      <div class="stack add-model">
        <p>
          A model that workers run is added where the server runs: <code>htm models add PROVIDER/NAME</code>. The
          command asks the provider for the length of its vectors. Then embed the older memories, and activate it.
        </p>
        <p>A model whose vectors your own programs compute can be added here:</p>
        <p>
          <button type="button" class="button" onClick={() => setAsked(true)}>
            Add a model of your own …
          </button>
        </p>
      </div>
      {isAsked && <AddDialog onClose={() => setAsked(false)} reload={reload} />}
    </details>
  );
}

function AddDialog({ onClose, reload }: { onClose: () => void; reload: () => void }): JSX.Element {
  const [name, setName] = useState("");
  const [dimensions, setDimensions] = useState("");
  const act = async (): Promise<void> => {
    const { label } = await htm.models.add({ name: name.trim(), dimensions: Number(dimensions) });
    say(`${label} is added. Bring its vectors, then activate it.`);
    reload();
  };
  return (
    <Confirm
      title="Add a model of your own"
      verb="Add"
      isReady={name.trim() !== "" && dimensions !== ""}
      act={act}
      onClose={onClose}
    >
      <label class="field">
        <span>Name. It is listed as caller/NAME</span>
        <input
          class="input mono"
          value={name}
          required
          autofocus
          autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Numbers of a vector, 1 to 4,000</span>
        <input
          class="input"
          type="number"
          min={1}
          max={4_000}
          value={dimensions}
          required
          onInput={(event) => setDimensions(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  );
}
