// The form of the change that somebody asked for.

import type { JSX } from "preact";
import type { Asked } from "./changes";
import { MergeDialog } from "./dialog-merge";
import { SplitDialog } from "./dialog-split";
import { AddSynonymDialog, RemoveSynonymDialog, RenameDialog } from "./dialogs-names";
import { ImportDialog, RevertDialog } from "./dialogs-past";
import { AddDialog, DescribeDialog, RemoveDialog } from "./dialogs-tag";

export function ChangeForm({ asked, onClose }: { asked: Asked; onClose: () => void }): JSX.Element {
  switch (asked.act) {
    case "merge":
      return <MergeDialog from={asked.from} into={asked.into} onClose={onClose} />;
    case "split":
      return <SplitDialog tag={asked.tag} onClose={onClose} />;
    case "rename":
      return <RenameDialog tag={asked.tag} onClose={onClose} />;
    case "remove":
      return <RemoveDialog tag={asked.tag} onClose={onClose} />;
    case "describe":
      return <DescribeDialog tag={asked.tag} onClose={onClose} />;
    case "add_synonym":
      return <AddSynonymDialog tag={asked.tag} onClose={onClose} />;
    case "remove_synonym":
      return <RemoveSynonymDialog tag={asked.tag} name={asked.name} onClose={onClose} />;
    case "add":
      return <AddDialog below={asked.below} onClose={onClose} />;
    case "revert":
      return <RevertDialog change={asked.change} kind={asked.kind} onClose={onClose} />;
    case "import":
      return <ImportDialog document={asked.document} source={asked.source} onClose={onClose} />;
  }
}
