// Changes of tags: what is sent, and what is said about it afterwards.

import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { htm } from "../../server";

/** A change, as it is rehearsed and then made. */
export type Request =
  | { kind: "add"; fields: models.AddTags }
  | { kind: "rename"; fields: models.RenameTag }
  | { kind: "merge"; fields: models.MergeTags }
  | { kind: "split"; fields: models.SplitTag }
  | { kind: "remove"; fields: models.RemoveTag }
  | { kind: "add_synonym"; fields: models.AddSynonym }
  | { kind: "remove_synonym"; fields: models.RemoveSynonym }
  | { kind: "mark_distinct" | "unmark_distinct"; fields: models.TagPair }
  | { kind: "import"; fields: models.ImportOntology }
  | { kind: "revert"; fields: models.RevertChange };

/** A change that somebody asked for, before its form is filled. */
export type Asked =
  | { act: "add"; below?: string }
  | { act: "describe" | "rename" | "split" | "remove" | "add_synonym"; tag: string }
  | { act: "merge"; from: string[]; into?: string }
  | { act: "remove_synonym"; tag: string; name: string }
  | { act: "import"; document: models.OntologyDocument; source: string }
  | { act: "revert"; change: number; kind?: models.ChangeKind };

// The author in the log, where the server needs no key. With one the log names its holder.
const AUTHOR = "console";

export function send(
  request: Request,
  namespace: string | undefined,
  isRehearsal: boolean,
  signal?: AbortSignal,
): Promise<models.Changed> {
  const how = { namespace, by: AUTHOR, dry_run: isRehearsal };
  const options = signal ? { signal } : {};
  switch (request.kind) {
    case "add":
      return htm.tags.add({ ...request.fields, ...how }, options);
    case "rename":
      return htm.tags.rename({ ...request.fields, ...how }, options);
    case "merge":
      return htm.tags.merge({ ...request.fields, ...how }, options);
    case "split":
      return htm.tags.split({ ...request.fields, ...how }, options);
    case "remove":
      return htm.tags.remove({ ...request.fields, ...how }, options);
    case "add_synonym":
      return htm.tags.addSynonym({ ...request.fields, ...how }, options);
    case "remove_synonym":
      return htm.tags.removeSynonym({ ...request.fields, ...how }, options);
    case "mark_distinct":
      return htm.tags.markDistinct({ ...request.fields, ...how }, options);
    case "unmark_distinct":
      return htm.tags.unmarkDistinct({ ...request.fields, ...how }, options);
    case "import":
      return htm.tags.import({ ...request.fields, ...how }, options);
    case "revert":
      return htm.tags.revert({ ...request.fields, ...how }, options);
  }
}

/** Whether something would change. */
export function hasEffect(changed: models.Changed): boolean {
  const { moved, added, described, removed, synonyms, freed, nodes, jobs } = changed;
  return [moved, added, described, removed, synonyms, freed].some((list) => list.length > 0) || nodes + jobs > 0;
}

/** Where a tag went with a change; undefined: it is gone, and so are those above it. */
export function wentTo(tag: string, changed: models.Changed): string | undefined {
  const moved = changed.moved.find(({ from }) => from === tag);
  if (moved) return moved.to;
  if (!changed.removed.includes(tag)) return tag;
  const parent = tag.slice(0, Math.max(0, tag.lastIndexOf(":")));
  return parent ? wentTo(parent, changed) : undefined;
}

/** What was done, in a sentence. */
export function said(request: Request, changed: models.Changed): string {
  const { nodes, jobs } = changed;
  const memories = nodes > 0 ? ` (${count(nodes, "memory", "memories")})` : "";
  switch (request.kind) {
    case "add":
      return changed.added.length > 0 ? `${listed(changed.added)} added` : `${listed(changed.described)} described`;
    case "rename":
      return `${request.fields.tag} renamed to ${wentTo(request.fields.tag, changed) ?? request.fields.to}${memories}`;
    case "merge":
      return `${listed(request.fields.from)} merged into ${request.fields.into}${memories}`;
    case "split":
      return `${request.fields.tag} split: ${count(jobs, "memory waits", "memories wait")} to be tagged again`;
    case "remove":
      return `${request.fields.tag} removed${below(changed.removed.length - 1)}${memories}`;
    case "add_synonym":
      return `${listed(changed.synonyms.map(({ name }) => name))} now also means ${request.fields.tag}`;
    case "remove_synonym":
      return `${request.fields.name} is no longer another name`;
    case "mark_distinct":
      return `${request.fields.tag} and ${request.fields.other} are marked as distinct`;
    case "unmark_distinct":
      return `${request.fields.tag} and ${request.fields.other} may be suggested again`;
    case "import":
      return `${count(changed.added.length, "new tag")} imported`;
    case "revert":
      return `Change ${request.fields.id} undone${memories}`;
  }
}

function below(tags: number): string {
  return tags > 0 ? `, with ${count(tags, "tag")} below it` : "";
}

const NAMED = 3;

/** Some names, and how many more there are. */
export function listed(names: readonly string[], most = NAMED): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}
