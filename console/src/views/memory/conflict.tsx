// Two people have edited a text: theirs beside mine, and the choice.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { models } from "htm-memory";
import { Time, number } from "../../components/basics";
import { htm, useAnswer } from "../../server";
import { Differences } from "./differences";

interface Properties {
  mine: string;
  /** What I began with. */
  base: models.Node;
  theirs: models.Node;
  /** Takes a text into the form. */
  choose: (content: string) => void;
}

export function Conflict({ mine, base, theirs, choose }: Properties): JSX.Element {
  const history = useAnswer((signal) => htm.memories.history(theirs.id, { signal }), [theirs.id, theirs.revision]);
  const section = useRef<HTMLElement>(null);
  // Who has pressed Save may be far below.
  useEffect(() => {
    section.current?.scrollIntoView({ block: "start" });
    section.current?.focus({ preventScroll: true });
  }, [theirs]);
  const author = history.value?.find(({ revision }) => revision === theirs.revision)?.author;
  return (
    <section
      ref={section}
      tabIndex={-1}
      class="notice warn stack memory-conflict"
      role="alert"
      aria-labelledby="conflict-title"
    >
      <div>
        <h2 id="conflict-title">Somebody else has edited the text meanwhile</h2>
        <p class="small">
          Nothing is saved yet. You began with revision {number(base.revision)}; it is revision{" "}
          {number(theirs.revision)} now
          {author && (
            <>
              , by <span class="stored">{author}</span>
            </>
          )}{" "}
          (<Time at={theirs.updated_at} />
          ). Choose the text to go on with. You can still change it before you save.
        </p>
      </div>
      <div class="columns">
        <Side
          title="Their text"
          content={theirs.content}
          former={base.content}
          verb="Go on with their text"
          choose={choose}
        />
        <Side title="Your text" content={mine} former={base.content} verb="Go on with your text" choose={choose} />
      </div>
      <details>
        <summary>From their text to yours</summary>
        <Differences before={theirs.content} after={mine} />
      </details>
    </section>
  );
}

interface SideProperties {
  title: string;
  content: string;
  former: string;
  verb: string;
  choose: (content: string) => void;
}

function Side({ title, content, former, verb, choose }: SideProperties): JSX.Element {
  return (
    <div class="card stack">
      <h3>{title}</h3>
      <Differences before={former} after={content} />
      <p>
        <button type="button" class="button" onClick={() => choose(content)}>
          {verb}
        </button>
      </p>
    </div>
  );
}
