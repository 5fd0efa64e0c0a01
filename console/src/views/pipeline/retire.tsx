// The end of a model.

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

export function RetireDialog({ model, onClose, reload }: Properties): JSX.Element {
  const [isDropped, setDropped] = useState(false);
  const act = async (): Promise<void> => {
    const { deleted_jobs } = await htm.models.retire({ label: model.label, drop: isDropped });
    say(`${model.label} is retired${deleted_jobs > 0 ? `; ${count(deleted_jobs, "job")} of it deleted` : ""}.`);
    reload();
  };
  const jobs = `Its ${count(model.open, "open job")} and ${count(model.dead, "dead letter")}`;
  return (
    <Confirm
      title={`Retire ${model.label}`}
      verb={isDropped ? "Retire and delete its vectors" : "Retire"}
      isDangerous
      act={act}
      onClose={onClose}
    >
      <p>
        Nothing is embedded by it any more. {jobs} are deleted, which cannot be undone. This command takes it into use
        again: <code>htm models add {model.label}</code>
      </p>
      <label class="row choice">
        <input type="checkbox" checked={isDropped} onChange={(event) => setDropped(event.currentTarget.checked)} />
        <span>
          Also delete its vectors, of {count(model.embedded, "memory", "memories")}. To have them again, all must be
          embedded again.
        </span>
      </label>
    </Confirm>
  );
}
