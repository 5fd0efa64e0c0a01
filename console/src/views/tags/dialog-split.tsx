// A tag becomes several narrower ones.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { ChangeDialog } from "./change-dialog";
import { TagField } from "./tag-field";

interface Part {
  tag: string;
  description: string;
}

const LEFTOVERS: Record<models.Leftover, string> = {
  keep: "keep the tag that they have",
  first: "get the first of the new tags",
};

export function SplitDialog({ tag, onClose }: { tag: string; onClose: () => void }): JSX.Element {
  const [parts, setParts] = useState<Part[]>(() => [0, 1].map(() => ({ tag: `${tag}:`, description: "" })));
  const [leftover, setLeftover] = useState<models.Leftover>("keep");
  const change = (place: number, part: Partial<Part>): void =>
    setParts(parts.map((former, index) => (index === place ? { ...former, ...part } : former)));
  const named = parts.filter((part) => part.tag.trim() && !part.tag.trim().endsWith(":"));
  const into = named.map((part) => ({ tag: part.tag.trim(), description: part.description.trim() || null }));
  return (
    <ChangeDialog
      title={`Split ${tag}`}
      verb="Split"
      request={into.length > 1 ? { kind: "split", fields: { tag, into, leftover } } : undefined}
      missing="Name at least two tags."
      onClose={onClose}
    >
      <p>
        A worker reads each memory with <code>{tag}</code> again and chooses among the new tags. A description helps it.
        Tags that somebody gave by hand stay.
      </p>
      {parts.map((part, index) => (
        <fieldset key={index} class="tag-part">
          <legend class="small muted">New tag {index + 1}</legend>
          <TagField
            label="Tag"
            value={part.tag}
            set={(tag) => change(index, { tag })}
            except={[tag]}
            hasFocus={index === 0}
          />
          <label class="field">
            <span>Description (may stay empty)</span>
            <input
              class="input"
              value={part.description}
              maxLength={1_000}
              onInput={(event) => change(index, { description: event.currentTarget.value })}
            />
          </label>
        </fieldset>
      ))}
      <div class="row">
        <button type="button" class="button" onClick={() => setParts([...parts, { tag: `${tag}:`, description: "" }])}>
          One more
        </button>
      </div>
      <label class="field">
        <span>Memories that fit none of them</span>
        <select
          class="input"
          value={leftover}
          onChange={(event) => setLeftover(event.currentTarget.value === "first" ? "first" : "keep")}
        >
          <option value="keep">{LEFTOVERS.keep}</option>
          <option value="first">{LEFTOVERS.first}</option>
        </select>
      </label>
    </ChangeDialog>
  );
}
