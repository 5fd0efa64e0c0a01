// The change of the model that searches use.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm } from "../../server";

interface Properties {
  model: models.Model;
  onClose: () => void;
  reload: () => void;
}

export function ActivateDialog({ model, onClose, reload }: Properties): JSX.Element {
  const [isForced, setForced] = useState(false);
  const missing = model.nodes - model.embedded;
  const act = async (): Promise<void> => {
    const { active, standby, lost, enqueued } = await htm.models.activate({ label: model.label, force: isForced });
    const facts = [
      `Searches use ${active} now.`,
      lost > 0 && `${count(lost, "memory is", "memories are")} not found by meaning until embedded.`,
      enqueued > 0 && `${count(enqueued, "job was", "jobs were")} made for what is missing.`,
    ].filter(Boolean);
    // The way back needs no force: what the former model has not embedded meanwhile, this one has not either.
    const undo = async (label: string): Promise<void> => {
      await htm.models.activate({ label });
      reload();
    };
    say(facts.join(" "), standby ? () => undo(standby) : undefined);
    reload();
  };
  return (
    <Confirm title={`Activate ${model.label}`} verb="Activate" act={act} onClose={onClose}>
      <p>
        Searches use it from then on, and the model of now goes on standby. If the index is missing, it is built first,
        which can take minutes for many memories.
      </p>
      {missing > 0 && (
        <>
          <p class="notice warn">
            It has not embedded {count(missing, "memory", "memories")} yet. The server refuses if one of them is found
            by meaning now and would not be found afterwards.
          </p>
          <label class="row choice">
            <input type="checkbox" checked={isForced} onChange={(event) => setForced(event.currentTarget.checked)} />
            <span>Activate it even so. These memories are found by their words only, until they are embedded.</span>
          </label>
        </>
      )}
      <p class="small muted">
        Set <code>embedding.provider</code> and <code>embedding.model</code> of the server and its workers to it too:
        the server embeds the questions of searches.
      </p>
    </Confirm>
  );
}
