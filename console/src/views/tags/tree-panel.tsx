// The tree with what finds, sorts and folds its tags.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { count, number } from "../../components/basics";
import { useFollowed } from "../../components/followed";
import { go, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";
import { useHere } from "./here";
import { here } from "./places";
import { above, find, rowsOf, wantedIn, type Branch } from "./tree";
import { TreeList } from "./tree-list";

const REST_MS = 250;

export function TreePanel({ chosen }: { chosen: string | undefined }): JSX.Element {
  const { tree, choose } = useHere();
  const { query } = usePlace();
  const { typed: text, type } = useFollowed(query.get("find") ?? "", (find) => setQuery({ find }), { restMs: REST_MS });

  const wanted = wantedIn(text);
  const found = useMemo(() => (wanted ? find(tree, wanted) : undefined), [tree, wanted]);
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [foundFolds, setFoundFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  useEffect(() => setFoundFolds(new Map()), [wanted]);
  // Whatever way somebody came to a tag, it is seen in the tree.
  useEffect(() => {
    const parents = above(chosen === undefined ? undefined : tree.byPath.get(chosen));
    if (parents.length > 0)
      setFolds((folds) => new Map([...folds, ...parents.map(({ path }) => [path, true] as const)]));
  }, [chosen, tree]);

  const isOpen = (branch: Branch): boolean =>
    branch.children.length > 0 &&
    (found ? (foundFolds.get(branch.path) ?? found.above.has(branch)) : (folds.get(branch.path) ?? false));
  const fold = ({ path }: Branch, isOpen: boolean): void =>
    (found ? setFoundFolds : setFolds)((folds) => new Map(folds).set(path, isOpen));
  const foldAll = (isOpen: boolean): void => setFolds(new Map([...tree.byPath.keys()].map((path) => [path, isOpen])));
  const rows = useMemo(() => rowsOf(tree, isOpen, found), [tree, found, folds, foundFolds]);

  return (
    <section class="card tags-side" aria-label="All tags">
      <label class="field">
        <span>Find a tag</span>
        <input
          class="input"
          type="search"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={(event) => {
            // An input method chooses among words with it.
            if (event.key !== "ArrowDown" || event.isComposing) return;
            event.preventDefault();
            document.querySelector<HTMLElement>("[role=treeitem][tabindex='0']")?.focus();
          }}
        />
      </label>
      <div class="row tag-tree-tools">
        <label class="row">
          <span class="small muted">Sort</span>
          <select
            class="input tag-low"
            value={query.get("sort") ?? ""}
            onChange={(event) => setQuery({ sort: event.currentTarget.value })}
          >
            <option value="">by name</option>
            <option value="memories">by memories</option>
          </select>
        </label>
        {!found && (
          <span class="row">
            <button type="button" class="button small tag-small" onClick={() => foldAll(true)}>
              Unfold all
            </button>
            <button type="button" class="button small tag-small" onClick={() => foldAll(false)}>
              Fold all
            </button>
          </span>
        )}
      </div>
      <p class="hidden-label" role="status">
        {found ? `${count(found.matches.size, "tag")} found` : ""}
      </p>
      {rows.length > 0 ? (
        <>
          <p class="tag-tree-head small muted" aria-hidden="true">
            <span>{found ? `${number(found.matches.size)} found` : "Tag"}</span>
            <span>own</span>
            <span>total</span>
          </p>
          <TreeList rows={rows} isOpen={isOpen} fold={fold} chosen={chosen} choose={choose} wanted={wanted} />
          <p class="small muted">Memories: own have exactly this tag, total counts those of tags below it too.</p>
        </>
      ) : (
        <NotFound text={text} />
      )}
    </section>
  );
}

function setQuery(change: Record<string, string>): void {
  go(here(change), { replace: true });
}

/** Nothing has the text in its name: tags with a similar one. */
function NotFound({ text }: { text: string }): JSX.Element {
  const { namespace, choose } = useHere();
  const similar = useAnswer(
    async (signal) => {
      const found = await htm.tags.similar({ q: text, namespace, limit: 5 }, { signal });
      return found.map(({ tag }) => tag);
    },
    [text, namespace],
  );
  const tags = similar.error ? [] : (similar.value ?? []);
  return (
    <div class="empty small">
      <p>No tag has this in its name.</p>
      {tags.length > 0 && (
        <p class="row tag-found-near">
          Did you mean{" "}
          {tags.map((tag) => (
            <button key={tag} type="button" class="chip" onClick={() => choose(tag)}>
              {tag}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}
