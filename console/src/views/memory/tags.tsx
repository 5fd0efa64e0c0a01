// The tags of a memory.

import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { useMay } from "../../components/sign-in";
import { attempt, say } from "../../components/toasts";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";
import { edit } from "../../components/memory-acts";
import { Origins } from "./origins";

const SHOWN = 100;

// What the server says of a text without topics.
const NO_TAGS = "0 tags";

// Tags are proposed when the fingers rest.
const REST_MS = 180;

interface Properties {
  memory: models.Node;
  /** How far the worker is that finds tags, once it is known. */
  tagging: models.StageStatus | undefined;
  reload: () => void;
}

export function Tags({ memory, tagging, reload }: Properties): JSX.Element {
  const mayWrite = useMay("writer");
  const [shown, setShown] = useState(SHOWN);
  const [isActing, setActing] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const act = async (change: () => Promise<void>): Promise<boolean> => {
    setActing(true);
    const isDone = await attempt(change);
    setActing(false);
    reload();
    return isDone;
  };
  const remove = async (tag: string): Promise<void> => {
    if (await act(() => removed(memory, tag, reload))) box.current?.focus();
  };
  return (
    <section class="card memory-tags" aria-labelledby="tags-title" aria-busy={isActing}>
      <h2 id="tags-title">Tags</h2>
      <div class="stack">
        {memory.tags.length === 0 ? (
          <p class="muted small">{noneOf(tagging)}</p>
        ) : (
          <ul class="row">
            {memory.tags.slice(0, shown).map((tag) => (
              <li key={tag} class="chip">
                <Link
                  to={address("/console/tags", { namespace: memory.namespace, tag })}
                  title={`The tag ${tag} and its memories`}
                >
                  {tag}
                </Link>
                {mayWrite && (
                  <button
                    type="button"
                    class="remove"
                    aria-label={`Remove ${tag}`}
                    disabled={isActing}
                    onClick={() => remove(tag)}
                  >
                    ×
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
        {memory.tags.length > shown && (
          <p>
            <button type="button" class="button" onClick={() => setShown(shown * 2)}>
              Show more of {count(memory.tags.length, "tag")}
            </button>
          </p>
        )}
        {mayWrite && (
          <AddTag
            box={box}
            namespace={memory.namespace}
            isActing={isActing}
            add={(text) => act(() => added(memory, text, reload))}
          />
        )}
        {memory.tags.length > 0 && <Origins memory={memory} />}
      </div>
    </section>
  );
}

/** That there are no tags, and whether a worker will add some. */
function noneOf(tagging: models.StageStatus | undefined): string {
  switch (tagging?.state) {
    case "pending":
    case "running":
      return "It has none. A worker adds some when it has read the text.";
    case "done":
      // Else they were removed since.
      return tagging.outcome === NO_TAGS ? "It has none: the worker found none." : "It has none.";
    case "parked":
      return "It has none: its tagging is set aside. Processing says why.";
    case "dead":
      return "It has none: its tagging failed for good. Processing says why.";
    case "stranded":
      return "It has none: its tagging is lost. Processing says more.";
    default:
      return "It has none.";
  }
}

async function removed(memory: models.Node, tag: string, reload: () => void): Promise<void> {
  await edit(memory, { remove_tags: [tag] });
  say(`Removed the tag ${tag}.`, async () => {
    await edit(memory, { add_tags: [tag] });
    reload();
  });
}

async function added(memory: models.Node, text: string, reload: () => void): Promise<void> {
  // The server writes tags in its own way, so the new one is known only by comparing.
  const before = await htm.memories.get(memory.id);
  await edit(memory, { add_tags: [text] });
  const after = await htm.memories.get(memory.id);
  const tags = after.tags.filter((tag) => !before.tags.includes(tag));
  if (tags.length === 0) return say(`It has the tag ${text} already.`);
  say(`Added the tag ${tags.join(", ")}.`, async () => {
    await edit(memory, { remove_tags: tags });
    reload();
  });
}

interface AddProperties {
  box: { current: HTMLInputElement | null };
  namespace: string;
  isActing: boolean;
  /** Returns whether it was added. */
  add: (text: string) => Promise<boolean>;
}

function AddTag({ box, namespace, isActing, add }: AddProperties): JSX.Element {
  const [text, setText] = useState("");
  const names = useId();
  const proposed = useProposed(text, namespace);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (text.trim() && (await add(text.trim()))) setText("");
  };
  return (
    <form class="row memory-add-tag" onSubmit={submit}>
      <label>
        <span class="hidden-label">Add a tag</span>
        <input
          ref={box}
          class="input"
          placeholder="Add a tag, such as project:billing"
          maxLength={255}
          list={names}
          value={text}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <datalist id={names}>
        {proposed.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
      <button type="submit" class="button" disabled={isActing || !text.trim()}>
        Add
      </button>
    </form>
  );
}

/** Tags with a similar name. */
export function useProposed(text: string, namespace: string): string[] {
  const [rested, setRested] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setRested(text.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const answer = useAnswer(
    async (signal) => (rested ? htm.tags.similar({ q: rested, namespace }, { signal }) : []),
    [rested, namespace],
  );
  return answer.value?.map(({ tag }) => tag) ?? [];
}
