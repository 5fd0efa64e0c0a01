// What a change would do, before it is done.

import type { ComponentChildren, JSX } from "preact";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { hasEffect } from "./changes";

export function Plan({ changed }: { changed: models.Changed }): JSX.Element {
  if (!hasEffect(changed)) return <p class="muted">Nothing would change: it is so already.</p>;
  const { kind, nodes, jobs } = changed;
  const merged = changed.moved.filter((it) => it.merged);
  const renamed = changed.moved.filter((it) => !it.merged);
  return (
    <div class="tag-plan stack">
      <p>
        <strong>{nodes > 0 ? count(nodes, "memory", "memories") : "No memory"}</strong>
        {kind === "split" ? " will be looked at again" : nodes > 1 ? " change their tags" : " changes its tags"}
        {nodes > 0 && <span class="muted"> (forgotten ones counted)</span>}
        {jobs > 0 && ". A worker chooses the new tags, in the background"}.
      </p>
      <Names of={merged} head={count(merged.length, "tag is merged", "tags are merged")}>
        {({ from, to }) => <Arrow from={from} to={to} />}
      </Names>
      <Names of={renamed} head={count(renamed.length, "tag gets a new name", "tags get a new name")}>
        {({ from, to }) => <Arrow from={from} to={to} />}
      </Names>
      <Names of={changed.removed} head={`${count(changed.removed.length, "tag goes", "tags go")} away`}>
        {(name) => <code>{name}</code>}
      </Names>
      <Names
        of={changed.added}
        head={count(
          changed.added.length,
          kind === "revert" ? "tag comes back" : "new tag",
          kind === "revert" ? "tags come back" : undefined,
        )}
      >
        {(name) => <code>{name}</code>}
      </Names>
      <Names of={changed.described} head={DESCRIBED[kind] ?? "New description"}>
        {(name) => <code>{name}</code>}
      </Names>
      <Names of={changed.synonyms} head="Other names: searches and new memories that use them get the tag">
        {({ name, tag }) => (
          <>
            <code>{name}</code> will mean <code>{tag}</code>
          </>
        )}
      </Names>
      <Names of={changed.freed} head="No longer another name">
        {(name) => <code>{name}</code>}
      </Names>
      <Names of={changed.kept} head="Stays, as memories have it by now">
        {(name) => <code>{name}</code>}
      </Names>
      {isImported(changed) && <ImportNotes imported={changed} />}
    </div>
  );
}

// A split changes what is known about a tag, as a description does.
const DESCRIBED: Partial<Record<models.ChangeKind, string>> = {
  split: "Split",
  revert: "Description and split as they were",
};

function ImportNotes({ imported }: { imported: models.Imported }): JSX.Element {
  return (
    <>
      <Names of={imported.called} head="In the file a tag, here another name of one: the tag here is used">
        {({ name, tag }) => <Arrow from={name} to={tag} />}
      </Names>
      <Names of={imported.descriptions_kept} head="Keeps the description that it has here">
        {(name) => <code>{name}</code>}
      </Names>
    </>
  );
}

function isImported(changed: models.Changed): changed is models.Imported {
  return "called" in changed;
}

function Arrow({ from, to }: { from: string; to: string }): JSX.Element {
  return (
    <>
      <code>{from}</code> <span aria-hidden="true">→</span>
      <span class="hidden-label">becomes</span> <code>{to}</code>
    </>
  );
}

const SHOWN = 5;
const MOST = 200;

interface NamesProperties<Item> {
  of: readonly Item[];
  head: string;
  children: (item: Item) => ComponentChildren;
}

/** Names below a heading, the first ones at once. */
function Names<Item>({ of, head, children }: NamesProperties<Item>): JSX.Element | null {
  if (of.length === 0) return null;
  const rest = of.slice(SHOWN, MOST);
  const list = (items: readonly Item[]): JSX.Element => (
    <ul>
      {items.map((item, index) => (
        <li key={index}>{children(item)}</li>
      ))}
    </ul>
  );
  return (
    <div>
      <h3 class="small">{head}</h3>
      {list(of.slice(0, SHOWN))}
      {rest.length > 0 && (
        <details>
          <summary>
            {of.length - SHOWN} more{of.length > MOST && `, the first ${MOST} are shown`}
          </summary>
          {list(rest)}
        </details>
      )}
    </div>
  );
}
