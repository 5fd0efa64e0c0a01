// Changes of the names of a tag.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ChangeDialog } from "./change-dialog";
import { TextField } from "./text-field";

interface OfTag {
  tag: string;
  onClose: () => void;
}

export function RenameDialog({ tag, onClose }: OfTag): JSX.Element {
  const [name, setName] = useState(tag);
  const isComplete = name.trim() !== "" && name.trim() !== tag;
  return (
    <ChangeDialog
      title={`Rename ${tag}`}
      verb="Rename"
      request={isComplete ? { kind: "rename", fields: { tag, to: name.trim() } } : undefined}
      missing="Type another name."
      onClose={onClose}
    >
      <p>
        Colons part the levels, the general one first. With another level before it, the tag moves. Tags below it go
        along. The former name still works, in searches and on new memories.
      </p>
      <TextField label="New name" value={name} set={setName} isTag hasFocus />
    </ChangeDialog>
  );
}

export function AddSynonymDialog({ tag, onClose }: OfTag): JSX.Element {
  const [name, setName] = useState("");
  return (
    <ChangeDialog
      title={`Another name for ${tag}`}
      verb="Add the name"
      request={name.trim() ? { kind: "add_synonym", fields: { tag, name: name.trim() } } : undefined}
      missing="Type the other name."
      onClose={onClose}
    >
      <p>
        Whoever uses the other name, in a search or on a new memory, gets <code>{tag}</code>.
      </p>
      <TextField label="Other name" value={name} set={setName} isTag hasFocus />
    </ChangeDialog>
  );
}

export function RemoveSynonymDialog({ tag, name, onClose }: OfTag & { name: string }): JSX.Element {
  return (
    <ChangeDialog
      title={`Remove the name ${name}`}
      verb="Remove the name"
      request={{ kind: "remove_synonym", fields: { name } }}
      onClose={onClose}
    >
      <p>
        <code>{name}</code> will no longer mean <code>{tag}</code>. Memories keep their tags.
      </p>
    </ChangeDialog>
  );
}
