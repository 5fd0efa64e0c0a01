// The log of changes, each with a way back.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Time, count } from "../../components/basics";
import { PagedList } from "../../components/paged-list";
import { htm, usePaged } from "../../server";
import { useFocusTaker } from "./focus";
import { useHere } from "./here";
import { KINDS, concerned } from "./history-text";

const PAGE = 50;
const MOST = 500;

export function History(): JSX.Element {
  const { namespace, version } = useHere();
  const list = usePaged(
    async (cursor: number | undefined, signal) => {
      const { changes, next } = await htm.tags.log({ namespace, cursor, limit: PAGE }, { signal });
      return { items: changes, next };
    },
    [namespace, version],
  );
  const heading = useFocusTaker(list.items);
  return (
    <section class="stack tags-part" aria-labelledby="history-head" aria-busy={list.isLoading}>
      <div>
        <h2 id="history-head" tabIndex={-1} ref={heading}>
          History
        </h2>
        <p class="muted">
          All changes of tags, the latest first. Undoing one is a change too: it can be undone in turn. A change whose
          names were changed again later cannot be undone before the later one; the preview says which that is.
        </p>
      </div>
      <PagedList
        list={list}
        none="No tag was changed yet. What workers tag by themselves is not a change of tags."
        most={{ items: MOST, end: <Older /> }}
      >
        {(changes) => (
          <ol class="card tag-changes">
            {changes.map((change) => (
              <Entry key={change.change} change={change} find={(id) => changes.find((it) => it.change === id)} />
            ))}
          </ol>
        )}
      </PagedList>
    </section>
  );
}

function Older(): JSX.Element {
  return (
    <span>
      Older changes: <code>htm tags log</code>
    </span>
  );
}

interface EntryProperties {
  change: models.LoggedChange;
  find: (change: number) => models.LoggedChange | undefined;
}

function Entry({ change, find }: EntryProperties): JSX.Element {
  const { ask } = useHere();
  const { change: id, kind, made_at, made_by, nodes, reverted_by } = change;
  return (
    <li class={reverted_by ? "muted" : ""}>
      <div>
        <p>
          <strong>{KINDS[kind]}</strong> <span class="stored">{concerned(change, find)}</span>
        </p>
        <p class="small muted">
          Change {id} · <Time at={made_at} /> · by <span class="stored">{made_by ?? "somebody unknown"}</span> ·{" "}
          {count(nodes, "memory", "memories")}
        </p>
      </div>
      {reverted_by && <span class="small">Undone by change {reverted_by}</span>}
      {!reverted_by && ask && (
        <button type="button" class="button" onClick={() => ask({ act: "revert", change: id, kind })}>
          {kind === "revert" ? "Do it again …" : "Undo …"}
          <span class="hidden-label"> change {id}</span>
        </button>
      )}
    </li>
  );
}
