// Several tags become one.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { htm, useAnswer } from "../../server";
import { ChangeDialog } from "./change-dialog";
import { useHere } from "./here";
import { TagField } from "./tag-field";

interface Properties {
  from: readonly string[];
  into: string | undefined;
  onClose: () => void;
}

export function MergeDialog({ onClose, ...given }: Properties): JSX.Element {
  const [from, setFrom] = useState([...given.from]);
  const [into, setInto] = useState(given.into ?? "");
  const going = from.map((tag) => tag.trim()).filter(Boolean);
  const isComplete = going.length > 0 && into.trim() !== "";
  const change = (place: number, tag: string): void =>
    setFrom(from.map((former, index) => (index === place ? tag : former)));
  const [first = ""] = from;
  return (
    <ChangeDialog
      title="Merge tags"
      verb="Merge"
      request={isComplete ? { kind: "merge", fields: { from: going, into: into.trim() } } : undefined}
      missing="Name the tag that stays."
      onClose={onClose}
    >
      <p>
        Memories with a tag that goes away get the tag that stays. The names that go away still work, in searches and on
        new memories.
      </p>
      {from.map((tag, index) => (
        <div key={index} class="row tag-field-row">
          <TagField label="Tag that goes away" value={tag} set={(tag) => change(index, tag)} except={[into, ...from]} />
          {from.length > 1 && (
            <button type="button" class="button" onClick={() => setFrom(from.filter((_, place) => place !== index))}>
              Leave out<span class="hidden-label"> {tag || "this field"}</span>
            </button>
          )}
        </div>
      ))}
      <TagField
        label="Tag that stays"
        value={into}
        set={setInto}
        except={from}
        hasFocus={!given.into}
        placeholder="type to find a tag"
      />
      {!into && <Similar to={first} except={from} choose={setInto} />}
      <div class="row">
        <button type="button" class="button" onClick={() => setFrom([...from, ""])}>
          One more that goes away
        </button>
        {from.length === 1 && (
          <button
            type="button"
            class="button"
            disabled={!into.trim()}
            onClick={() => {
              setFrom([into]);
              setInto(first);
            }}
          >
            The other way round
          </button>
        )}
      </div>
    </ChangeDialog>
  );
}

interface SimilarProperties {
  to: string;
  except: readonly string[];
  choose: (tag: string) => void;
}

const PROPOSED = 5;

/** Tags with a similar name, to begin with. */
function Similar({ to, except, choose }: SimilarProperties): JSX.Element | null {
  const { namespace } = useHere();
  const { value } = useAnswer(
    async (signal) => (to ? htm.tags.similar({ q: to, namespace, limit: 2 * PROPOSED }, { signal }) : []),
    [to, namespace],
  );
  const tags = (value ?? [])
    .map(({ tag }) => tag)
    .filter((tag) => !except.includes(tag) && !tag.startsWith(`${to}:`))
    .slice(0, PROPOSED);
  if (tags.length === 0) return null;
  return (
    <p class="row small">
      <span class="muted">Similar:</span>
      {tags.map((tag) => (
        <button key={tag} type="button" class="chip" onClick={() => choose(tag)}>
          {tag}
        </button>
      ))}
    </p>
  );
}
