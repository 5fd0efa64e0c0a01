// A tag comes, is described, and goes.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count } from "../../components/basics";
import { ChangeDialog } from "./change-dialog";
import type { Request } from "./changes";
import { useHere } from "./here";
import { TextField } from "./text-field";

interface OfTag {
  tag: string;
  onClose: () => void;
}

export function AddDialog({ below, onClose }: { below: string | undefined; onClose: () => void }): JSX.Element {
  const [tag, setTag] = useState(below ? `${below}:` : "");
  const [description, setDescription] = useState("");
  const isComplete = tag.trim() !== "" && !tag.trim().endsWith(":");
  const request: Request = {
    kind: "add",
    fields: { tags: [{ tag: tag.trim(), description: description.trim() || null }] },
  };
  return (
    <ChangeDialog
      title="New tag"
      verb="Add"
      request={isComplete ? request : undefined}
      missing="Name the tag."
      onClose={onClose}
    >
      <p>
        Colons part the levels, the general one first: <code>database:postgresql:index</code>.
      </p>
      <TextField label="Tag" value={tag} set={setTag} isTag hasFocus />
      <TextField label="Description (may stay empty)" value={description} set={setDescription} />
    </ChangeDialog>
  );
}

export function DescribeDialog({ tag, onClose }: OfTag): JSX.Element {
  const { tree } = useHere();
  const former = tree.byPath.get(tag)?.use.description ?? "";
  const [description, setDescription] = useState(former);
  const request: Request = { kind: "add", fields: { tags: [{ tag, description: description.trim() }] } };
  return (
    <ChangeDialog
      title={`Describe ${tag}`}
      verb="Save"
      request={description.trim() === former ? undefined : request}
      missing="Change the description."
      onClose={onClose}
    >
      <p>What is this tag for? People read it, and the workers that give tags use it.</p>
      <label class="field">
        <span>Description</span>
        <textarea
          class="input"
          dir="auto"
          maxLength={1_000}
          value={description}
          autofocus
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
      </label>
    </ChangeDialog>
  );
}

export function RemoveDialog({ tag, onClose }: OfTag): JSX.Element {
  const { tree } = useHere();
  const total = tree.byPath.get(tag)?.use.total ?? 0;
  const [assigned, setAssigned] = useState(false);
  // The memories may be forgotten ones too: the server has the last word.
  const isComplete = total === 0 || assigned;
  return (
    <ChangeDialog
      title={`Remove ${tag}`}
      verb="Remove"
      isDangerous
      request={isComplete ? { kind: "remove", fields: { tag, assigned } } : undefined}
      missing="Say first that the memories shall lose it."
      onClose={onClose}
    >
      <p>The tag, all tags below it and their other names go away. No memory is removed.</p>
      <label class="tag-check">
        <input type="checkbox" checked={assigned} onChange={(event) => setAssigned(event.currentTarget.checked)} />
        <span>
          {total > 0
            ? `Take it from ${count(total, "memory", "memories")}`
            : "Also take it from forgotten memories that have it"}
        </span>
      </label>
    </ChangeDialog>
  );
}
