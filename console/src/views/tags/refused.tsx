// A change that the server would refuse: why, and what can be done instead.

import type { JSX } from "preact";
import type { HtmError } from "htm-memory";
import type { Asked, Request } from "./changes";
import { useHere } from "./here";

export function Refused({ error, request }: { error: HtmError; request: Request }): JSX.Element {
  const { ask } = useHere();
  const way = wayOut(error, request);
  return (
    <div class="notice warn">
      <p>
        <strong>This cannot be done:</strong> {error.detail}.
      </p>
      {way && ask ? (
        <p class="row">
          {way.text}
          <button type="button" class="button" onClick={() => ask(way.asked)}>
            {way.verb}
          </button>
        </p>
      ) : (
        <p class="small">{ADVICE[error.code] ?? error.hint}</p>
      )}
    </div>
  );
}

// The server's hints name paths of the API. These are for people.
const ADVICE: Readonly<Record<string, string>> = {
  tag_unknown: "Choose one of the tags that there are: they are proposed as you type.",
  tag_invalid: "A tag is written like database:postgresql:index: letters, digits and hyphens, at most five levels.",
  tag_into_itself: "Name another tag. One tag can be written in several ways.",
  tag_into_own_child: "A tag cannot move below itself. To make several tags of it, split it.",
  tag_unmovable: "Move or rename the tags below it first: a tag has at most five levels, and none of them twice.",
  tag_in_use: "Merge it into another tag, or say above that the memories lose it.",
  tag_is_synonym: "Use that tag, or remove the other name from it first.",
  nothing_to_split: "Name two tags or more. To replace it by one, rename or merge it.",
  description_too_long: "Describe it in a sentence or two.",
  namespace_full: "Merge or remove tags that are not used.",
  change_reverted: "To do it again, undo the change that undid it.",
  changed_since: "Something has changed since. Look at the history for the later change, and undo that one first.",
  contended: "Try again in a moment.",
};

interface WayOut {
  text: string;
  verb: string;
  asked: Asked;
}

function wayOut({ code, values }: HtmError, request: Request): WayOut | undefined {
  const { tag, name, by } = values;
  if (code === "tag_taken" && tag && request.kind === "rename") {
    return {
      text: "The two can become one.",
      verb: "Merge into it instead",
      asked: { act: "merge", from: [request.fields.tag], into: tag },
    };
  }
  if (code === "synonym_is_tag" && name && tag) {
    return {
      text: "That is a tag of its own.",
      verb: "Merge it instead",
      asked: { act: "merge", from: [name], into: tag },
    };
  }
  if (code === "changed_since" && by) {
    return {
      text: `Change ${by} came later.`,
      verb: `Undo change ${by} first`,
      asked: { act: "revert", change: Number(by) },
    };
  }
  return undefined;
}
