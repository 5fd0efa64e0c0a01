// What a change of the log did, in words.

import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { listed } from "./changes";

type Finder = (change: number) => models.LoggedChange | undefined;

export const KINDS: Record<models.ChangeKind, string> = {
  add: "Added or described",
  import: "Imported",
  template: "Template applied",
  remove: "Removed",
  rename: "Renamed",
  merge: "Merged",
  split: "Split",
  add_synonym: "Other name added",
  remove_synonym: "Other name removed",
  mark_distinct: "Told apart",
  unmark_distinct: "Told apart no longer",
  revert: "Undone",
};

/** What a change concerned. Its details are as the request was, and are read with care. `find` finds another change. */
export function concerned({ kind, details, names }: models.LoggedChange, find: Finder): string {
  const text = (name: string): string => textOf(field(details, name));
  switch (kind) {
    case "merge":
    case "rename":
      return `${listed(textsOf(field(details, "from")))} → ${text(kind === "merge" ? "into" : "to")}`;
    case "split":
      return `${text("tag")} → ${listed(textsOf(field(details, "into")))}`;
    case "remove":
      return text("tag");
    case "add":
    case "mark_distinct":
    case "unmark_distinct":
      return listed(textsOf(field(details, "tags")));
    case "add_synonym":
    case "remove_synonym":
      return `${text("name")} (for ${text("tag")})`;
    case "revert": {
      const undone = find(Number(text("change")));
      const what = undone && undone.kind !== "revert" ? ` ${concerned(undone, find)}` : "";
      return `change ${text("change")}: ${kindOf(text("kind"))}${what}`;
    }
    case "import":
    case "template":
      return [text("source"), count(names, "name")].filter(Boolean).join(", ");
  }
}

function kindOf(kind: string): string {
  const known = Object.entries(KINDS).find(([name]) => name === kind);
  return (known?.[1] ?? kind).toLowerCase();
}

function field(details: unknown, name: string): unknown {
  if (typeof details !== "object" || details === null) return undefined;
  return Object.entries(details).find(([key]) => key === name)?.[1];
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [textOf(value)];
}
