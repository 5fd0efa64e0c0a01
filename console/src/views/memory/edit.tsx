// Editing a memory.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { HtmError, type models } from "htm-memory";
import { Problem } from "../../components/basics";
import { focusContent } from "../../components/focus";
import { say } from "../../components/toasts";
import { Link, address, go, usePlace } from "../../router";
import { asError, htm } from "../../server";
import { edit } from "../../components/memory-acts";
import { Conflict } from "./conflict";
import { changesOf, draftOf, isChanged, mistakesOf, rebased, type Draft } from "./draft";
import { EditFields } from "./edit-fields";
import { Gone } from "./gone";
import { dropDraft, keepDraft, keptDraft } from "./kept-drafts";
import { useTitle } from "../../components/title";

interface Properties {
  memory: models.Node;
  reload: () => void;
}

export function Edit({ memory, reload }: Properties): JSX.Element {
  const { path } = usePlace();
  const [kept] = useState(() => keptDraft(memory.id));
  const [base, setBase] = useState(kept?.base ?? memory);
  const [draft, setDraft] = useState(kept?.draft ?? draftOf(memory));
  const [theirs, setTheirs] = useState<models.Node>();
  const [error, setError] = useState<HtmError>();
  const [isActing, setActing] = useState(false);
  const [isTried, setTried] = useState(false);
  const mistakes = mistakesOf(draft, base);
  const isDirty = isChanged(draft, base);
  useTitle(`Edit memory ${memory.id}`);
  useKept(memory.id, draft, base);
  const close = (): void => {
    dropDraft(memory.id);
    go(address(path), { replace: true });
    focusContent();
  };

  const failed = async (failure: unknown): Promise<void> => {
    const error = asError(failure);
    if (error.code !== "revision_conflict") return setError(error);
    const newer = await htm.memories.get(memory.id);
    // Only two different new texts need a choice.
    const isSettled = draft.content === base.content || draft.content === newer.content;
    if (!isSettled) return setTheirs(newer);
    setDraft({ ...rebased(draft, base, newer), content: newer.content });
    setBase(newer);
    setError(
      new HtmError(
        "revision_conflict",
        "The text was edited meanwhile. You have not changed it, so the new one is here now.",
        { hint: "Look at it, and save again." },
      ),
    );
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(mistakes).length > 0) return focusMistake();
    setActing(true);
    setError(undefined);
    try {
      await saved(memory.id, draft, base, reload);
      close();
      reload();
    } catch (failure) {
      await failed(failure).catch((failure: unknown) => setError(asError(failure)));
    }
    setActing(false);
  };
  const choose = (content: string): void => {
    if (!theirs) return;
    setDraft({ ...rebased(draft, base, theirs), content });
    setBase(theirs);
    setTheirs(undefined);
    document.getElementById("edit-content")?.focus();
  };

  return (
    <form class="stack memory-view memory-edit" noValidate onSubmit={save}>
      <div>
        <p class="small muted">Memory {memory.id}</p>
        <h1>Edit the memory</h1>
      </div>
      {kept && <p class="notice small">Here is what you had not saved yet. Cancel drops it.</p>}
      {theirs && <Conflict mine={draft.content} base={base} theirs={theirs} choose={choose} />}
      <EditFields
        draft={draft}
        memory={base}
        mistakes={isTried ? mistakes : {}}
        set={(change) => setDraft({ ...draft, ...change })}
      />
      {error && <Failure error={error} memory={base} />}
      <div class="row end memory-save-row">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={isActing || !isDirty || theirs !== undefined}>
          Save
        </button>
      </div>
    </form>
  );
}

/** Saves a draft, and says so. */
async function saved(id: number, draft: Draft, base: models.Node, reload: () => void): Promise<void> {
  const edited = await edit(base, changesOf(draft, base), base.revision);
  if (edited.changed.length === 0) return say("Nothing was to be changed.");
  const after = await htm.memories.get(id);
  say("Saved.", async () => {
    await edit(after, changesOf(draftOf(base), after), edited.revision);
    reload();
  });
}

/** Keeps the draft while it differs, and has the browser ask before it leaves the page. */
function useKept(id: number, draft: Draft, base: models.Node): void {
  const isDirty = isChanged(draft, base);
  // At once: somebody may leave before the page is painted.
  useLayoutEffect(() => (isDirty ? keepDraft(id, { draft, base }) : dropDraft(id)), [draft, base]);
  useEffect(() => {
    if (!isDirty) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isDirty]);
}

function focusMistake(): void {
  // The fields are told that they are wrong after this.
  setTimeout(() => document.querySelector<HTMLElement>(".memory-edit [aria-invalid='true']")?.focus());
}

function Failure({ error, memory }: { error: HtmError; memory: models.Node }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  // It may be below what is seen.
  useEffect(() => box.current?.scrollIntoView({ block: "center" }), [error]);
  const other = Number(error.values["node"]);
  return (
    <div ref={box} class="stack">
      {error.code === "node_not_found" ? <Gone memory={memory} /> : <Problem error={error} />}
      {error.code === "key_taken" && Number.isSafeInteger(other) && (
        <p>
          <Link to={address(`/console/memories/${other}`)}>Memory {other} has this key</Link>
        </p>
      )}
    </div>
  );
}
