// The end of a backfill before it is through.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm } from "../../server";

interface Properties {
  run: models.BackfillRun;
  onClose: () => void;
  reload: () => void;
}

export function StopDialog({ run, onClose, reload }: Properties): JSX.Element {
  const act = async (): Promise<void> => {
    await htm.backfills.cancel(run.id);
    say(`Backfill ${run.id} is stopped.`);
    reload();
  };
  return (
    <Confirm title={`Stop backfill ${run.id}`} verb="Stop" isDangerous act={act} onClose={onClose}>
      <p>
        It makes no more jobs. Those that it has made stay, and workers do them. A new backfill makes what is still
        missing.
      </p>
    </Confirm>
  );
}
