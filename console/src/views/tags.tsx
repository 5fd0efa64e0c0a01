// Tags: the topics of the memories, as a tree, and all that can be changed about them.

import type { JSX } from "preact";
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { Awaited, Empty, count } from "../components/basics";
import { useMay } from "../components/sign-in";
import { Link, go, useNamespace, usePlace } from "../router";
import { useAnswer } from "../server";
import type { Asked } from "./tags/changes";
import { ontology } from "./tags/data";
import { TagDetails } from "./tags/details";
import { ChangeForm } from "./tags/dialogs";
import { Exchange } from "./tags/exchange";
import { useFocusTaker } from "./tags/focus";
import { HereContext, useHere } from "./tags/here";
import { History } from "./tags/history";
import { useMade } from "./tags/made";
import { TagMap } from "./tags/map";
import { here, toTag } from "./tags/places";
import { Rare } from "./tags/rare";
import { Suggestions } from "./tags/suggestions";
import { treeOf } from "./tags/tree";
import { TreePanel } from "./tags/tree-panel";
import "./tags/forms.css";
import "./tags/map.css";
import "./tags/tags.css";
import "./tags/tree.css";

const PARTS = {
  "": { name: "All tags", show: Browse },
  suggestions: { name: "Suggestions", show: Suggestions },
  rare: { name: "Rare tags", show: Rare },
  history: { name: "History", show: History },
  exchange: { name: "Export and import", show: Exchange },
} as const;

export function Tags(): JSX.Element {
  const namespace = useNamespace();
  // What was read of one namespace is not shown for another.
  return <TagsOf key={namespace ?? ""} namespace={namespace} />;
}

function TagsOf({ namespace }: { namespace: string | undefined }): JSX.Element {
  const { query } = usePlace();
  const part = Object.entries(PARTS).find(([part]) => part === (query.get("part") ?? "")) ?? ["", PARTS[""]];
  const order = query.get("sort") === "memories" ? "memories" : "name";
  const [version, setVersion] = useState(0);
  const [asked, setAsked] = useState<Asked>();
  const opener = useRef<Element | null>(null);
  const open = (asked: Asked): void => {
    // One form may lead to another one: what opened the first is meant.
    if (!document.activeElement?.closest("dialog")) opener.current = document.activeElement;
    setAsked(asked);
  };
  const close = (): void => {
    setAsked(undefined);
    requestAnimationFrame(() => {
      const isLost = document.activeElement === document.body;
      if (isLost && opener.current instanceof HTMLElement) opener.current.focus();
    });
  };
  const ask = useMay("admin") ? open : undefined;
  const answer = useAnswer((signal) => ontology(namespace, signal), [namespace, version]);
  const tree = useMemo(
    () => treeOf(answer.value?.uses ?? [], answer.value?.synonyms ?? [], order),
    [answer.value, order],
  );
  const made = useMade(
    namespace,
    answer,
    useCallback(() => setVersion((version) => version + 1), []),
  );
  const choose = (tag: string | undefined): void => go(toTag(tag));
  const [, { show: Part }] = part;
  return (
    <HereContext.Provider value={{ namespace, tree, version, ask, choose, made }}>
      <Head
        count={answer.value && tree.byPath.size}
        refresh={() => setVersion(version + 1)}
        isLoading={answer.isLoading}
      />
      <nav class="tabs tags-parts" aria-label="About tags">
        {Object.entries(PARTS).map(([name, it]) => (
          <Link key={name} to={here({ part: name })} aria-current={it === part[1] ? "page" : undefined}>
            {it.name}
          </Link>
        ))}
      </nav>
      {!ask && <p class="small muted tags-note">To change tags, sign in with a key of the role admin.</p>}
      <Awaited answer={answer}>{() => <Part />}</Awaited>
      {asked && <ChangeForm key={JSON.stringify(asked)} asked={asked} onClose={close} />}
    </HereContext.Provider>
  );
}

interface HeadProperties {
  count: number | undefined;
  refresh: () => void;
  isLoading: boolean;
}

function Head({ count: tags, refresh, isLoading }: HeadProperties): JSX.Element {
  const { ask, tree } = useHere();
  const heading = useFocusTaker(tree);
  return (
    <div class="page-head tags-head">
      <div>
        <h1 tabIndex={-1} ref={heading}>
          Tags
        </h1>
        <p class="muted">
          What memories are about. A tag can stand below another one: <code>database:postgresql</code>.
        </p>
      </div>
      <div class="row">
        {tags !== undefined && <span class="muted">{count(tags, "tag")}</span>}
        <button type="button" class="button" disabled={isLoading} onClick={refresh}>
          Refresh
        </button>
        {ask && (
          <button type="button" class="button" onClick={() => ask({ act: "add" })}>
            New tag …
          </button>
        )}
      </div>
    </div>
  );
}

/** The tree, its map, and the chosen tag. */
function Browse(): JSX.Element {
  const { tree, ask } = useHere();
  const chosen = usePlace().query.get("tag") || undefined;
  if (tree.byPath.size === 0 && !chosen) {
    return (
      <Empty>
        <p>There are no tags here yet. They come by themselves: a worker reads each new memory and tags it.</p>
        <p class="row tags-centred">
          {ask && (
            <>
              <button type="button" class="button" onClick={() => ask({ act: "add" })}>
                Add one
              </button>
              <Link class="button" to={here({ part: "exchange" })}>
                Import some
              </Link>
            </>
          )}
        </p>
      </Empty>
    );
  }
  return (
    <div class={`tags-body ${chosen ? "has-chosen" : ""}`}>
      <TreePanel chosen={chosen} />
      <div class="stack">
        <TagMap chosen={chosen} />
        {chosen ? <TagDetails key={chosen} tag={chosen} /> : <Hint />}
      </div>
    </div>
  );
}

function Hint(): JSX.Element {
  const { ask } = useHere();
  return (
    <p class="muted">
      Choose a tag, in the tree or in the picture, to see its memories
      {ask && " and to change it: rename it, merge it with another one, split it"}.
    </p>
  );
}
