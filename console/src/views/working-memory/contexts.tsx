// The contexts that each order makes of a working memory, side by side.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, count } from "../../components/basics";
import { usePlace } from "../../router";
import { useAnswer } from "../../server";
import type { Whose } from "./acts";
import { contextsOf, type Contexts as Assembled } from "./assemble";
import { BringDialog } from "./bring";
import { ContextColumn, unfiltered } from "./context-column";
import { ContextFields } from "./context-fields";
import { read, type ContextQuery } from "./context-query";

interface Properties {
  whose: Whose;
  working: models.Working;
  mayChange: boolean;
  changed: () => void;
}

export function Contexts({ whose, working, mayChange, changed }: Properties): JSX.Element {
  const query = read(usePlace().query);
  const state = useMemo(() => stateOf(working), [working]);
  const answer = useAnswer(
    (signal) => contextsOf(whose, query, working, signal),
    [whose.namespace, whose.robot, JSON.stringify(query), state],
  );
  return (
    <section class="stack" aria-label="Context for a prompt">
      <p class="small muted">
        A context is the text that an agent gets for its prompt: its working memory, in one of four orders, until the most tokens
        are reached. Hits come first, superseded memories last. This view changes nothing and does not count as use.
      </p>
      <ContextFields query={query} robot={whose.robot} />
      <Awaited answer={answer}>
        {(assembled) => (
          <Columns assembled={assembled} whose={whose} query={query} isLoading={answer.isLoading} mayChange={mayChange} changed={changed} />
        )}
      </Awaited>
    </section>
  );
}

/** What makes another context of a working memory, as a text to compare. */
function stateOf({ nodes, stats }: models.Working): string {
  const states = nodes.map(({ node, revision, importance, accesses, accessed_at }) => [node, revision, importance, accesses, accessed_at]);
  return JSON.stringify([stats.max_tokens, states]);
}

interface ColumnsProperties {
  assembled: Assembled;
  whose: Whose;
  query: ContextQuery;
  isLoading: boolean;
  mayChange: boolean;
  changed: () => void;
}

function Columns({ assembled, whose, query, isLoading, mayChange, changed }: ColumnsProperties): JSX.Element {
  const { contexts, entries, unverified } = assembled;
  const isEmpty = contexts.every(({ included, left_out }) => included.length + unfiltered(left_out).length === 0);
  return (
    <>
      {assembled.query && <WouldChange assembled={assembled.query} whose={whose} query={query} mayChange={mayChange} changed={changed} />}
      {unverified && (
        <p class="notice warn small">
          The server could not compare these memories with the latest ones: {unverified}. Some may have been edited or forgotten.
        </p>
      )}
      {isEmpty ? (
        <Empty>
          <p>There is nothing to make a context of.</p>
          <p class="small">Ask a question above, or loosen the options.</p>
        </Empty>
      ) : (
        <div class="contexts" aria-busy={isLoading}>
          {contexts.map((context) => (
            <ContextColumn key={context.order} context={context} entries={entries} entered={assembled.query?.taken.entered} />
          ))}
        </div>
      )}
    </>
  );
}

interface ChangeProperties {
  assembled: NonNullable<Assembled["query"]>;
  whose: Whose;
  query: ContextQuery;
  mayChange: boolean;
  changed: () => void;
}

/** What a question would do to the working memory, and a button that does it. */
function WouldChange({ assembled: { recalled, taken }, whose, query, mayChange, changed }: ChangeProperties): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const facts = [
    `${count(taken.entered.size, "memory comes", "memories come")} in`,
    `${count(taken.used.size, "memory is", "memories are")} in working memory already`,
    taken.left.length > 0 && `${count(taken.left.length, "memory leaves", "memories leave")}`,
    taken.oversized.length > 0 && `${count(taken.oversized.length, "memory is", "memories are")} larger than the whole budget`,
  ].filter(Boolean);
  return (
    <div class="notice stack close">
      <p role="status">
        <strong>{recalled.hits.length === 0 ? "The question finds nothing." : `If it is asked: ${facts.join(", ")}.`}</strong>
      </p>
      <p class="small">
        These are <strong>estimates</strong>. The server assembles a context for a question only while it puts what it finds into the working
        memory. So the console has searched as nobody, which changed nothing, and has worked the contexts out by the server's rules; it cannot
        count the tokens of the joined text.
        {query.header && " Only the server writes the headers, so there is no text to copy before that."}
      </p>
      {mayChange && recalled.hits.length > 0 && (
        <p class="row small">
          <button type="button" class="button" onClick={() => setAsked(true)}>
            Add them to working memory …
          </button>
          <span>This changes the working memory. The contexts are exact afterwards.</span>
        </p>
      )}
      {isAsked && <BringDialog taken={taken} whose={whose} query={query} onClose={() => setAsked(false)} changed={changed} />}
    </div>
  );
}
