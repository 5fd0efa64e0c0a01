// The pause of a queue, with its reason.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm } from "../../server";
import { stageOf } from "../../components/job-words";

interface Properties {
  queue: string;
  onClose: () => void;
  reload: () => void;
}

export function PauseDialog({ queue, onClose, reload }: Properties): JSX.Element {
  const [reason, setReason] = useState("");
  const name = stageOf(queue);
  const act = async (): Promise<void> => {
    await htm.jobs.pauseQueue(queue, { reason: reason.trim() });
    const undo = async (): Promise<void> => {
      await htm.jobs.resumeQueue(queue);
      reload();
    };
    say(`${name} is paused.`, undo, { about: queue });
    reload();
  };
  return (
    <Confirm
      title={`Pause ${name.toLowerCase()}`}
      verb="Pause"
      isReady={reason.trim() !== ""}
      act={act}
      onClose={onClose}
    >
      <p>
        No worker takes a job of <code>{queue}</code> until somebody resumes it. Running jobs finish, and new ones wait.
      </p>
      <label class="field">
        <span>Reason, for others who look here</span>
        <input
          class="input"
          value={reason}
          required
          maxLength={500}
          autofocus
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  );
}
