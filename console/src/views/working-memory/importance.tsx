// The importance of a memory: it decides how long a working memory keeps it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { setImportance } from "./acts";
import { importanceText } from "./eviction";

interface Properties {
  entry: models.Entry;
  onClose: () => void;
  changed: () => void;
}

export function ImportanceDialog({ entry, onClose, changed }: Properties): JSX.Element {
  const [text, setText] = useState(importanceText(entry.importance));
  const importance = Number(text);
  const isValid = text.trim() !== "" && importance >= 1 && importance <= 10;
  const act = async (): Promise<void> => {
    const before = await setImportance(entry.node, importance);
    changed();
    say(`Memory ${entry.node} has the importance ${importanceText(importance)} now.`, async () => {
      await setImportance(entry.node, before);
      changed();
    });
  };
  return (
    <Confirm title={`Importance of memory ${entry.node}`} verb="Change it" isReady={isValid} act={act} onClose={onClose}>
      <p class="stored clamp">{entry.content.slice(0, 500)}</p>
      <label class="field">
        <span>Importance, 1 to 10</span>
        <input
          class="input mind-number"
          type="number"
          min={1}
          max={10}
          step="any"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="small muted">
        The more important a memory is, the longer a working memory keeps it; nothing can be pinned for good. The importance belongs to
        the memory: it changes for all robots and groups, and for searches that weigh it.
      </p>
    </Confirm>
  );
}
