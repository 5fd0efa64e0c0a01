// What was done before: a change is undone, or tags that were exported come in.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { ChangeDialog } from "./change-dialog";
import type { Request } from "./changes";

interface RevertProperties {
  change: number;
  kind: models.ChangeKind | undefined;
  onClose: () => void;
}

export function RevertDialog({ change, kind, onClose }: RevertProperties): JSX.Element {
  return (
    <ChangeDialog
      title={`Undo change ${change}`}
      verb="Undo it"
      request={{ kind: "revert", fields: { id: change } }}
      onClose={onClose}
    >
      <p>
        Names become what they were, and memories get back the tags that the change took from them. What was tagged
        since then stays.
        {kind === "split" && " Memories that were tagged again keep their new tags beside the old one."}
      </p>
    </ChangeDialog>
  );
}

interface ImportProperties {
  document: models.OntologyDocument;
  source: string;
  onClose: () => void;
}

export function ImportDialog({ document, source, onClose }: ImportProperties): JSX.Element {
  const [overwrites, setOverwrites] = useState(false);
  const request = useMemo<Request>(
    () => ({ kind: "import", fields: { document, source, overwrite_descriptions: overwrites } }),
    [document, source, overwrites],
  );
  return (
    <ChangeDialog title="Import tags" verb="Import" request={request} onClose={onClose}>
      <p class="stored">
        {source} has {count(document.tags.length, "tag")}. Those that are missing here are added, all or none. The other
        tags here stay.
      </p>
      <label class="tag-check">
        <input type="checkbox" checked={overwrites} onChange={(event) => setOverwrites(event.currentTarget.checked)} />
        <span>Replace descriptions that are here already</span>
      </label>
    </ChangeDialog>
  );
}
