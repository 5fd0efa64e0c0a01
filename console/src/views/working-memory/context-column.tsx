// A context of one order: which memories are in it, in which order, and what was left out.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Bar, count, number } from "../../components/basics";
import { copy } from "../../components/clipboard";
import { Link } from "../../router";
import { toMemory } from "./places";
import { ORDER_NAMES, ORDER_MEANINGS } from "./orders";

const SHOWN = 30;
const TEXT = 300;
const WHOLE_TEXT = 100_000;

interface Properties {
  context: models.Context;
  entries: ReadonlyMap<number, models.Entry>;
  /** What would come in by the query; undefined: the server has assembled it, and nothing is estimated. */
  entered: ReadonlySet<number> | undefined;
}

export function ContextColumn({ context, entries, entered }: Properties): JSX.Element {
  const { order, tokens, max_tokens, included, left_out } = context;
  const missing = unfiltered(left_out).length;
  const about = entered ? "about " : "";
  return (
    <section class="card context" aria-label={ORDER_NAMES[order]}>
      <div class="row context-head">
        <h3>{ORDER_NAMES[order]}</h3>
        <CopyButton context={context} isEstimate={entered !== undefined} />
      </div>
      <p class="small muted order">{ORDER_MEANINGS[order]}</p>
      <Bar
        label={`${about}${number(tokens)} of ${number(max_tokens)} tokens`}
        whole={max_tokens}
        parts={[{ name: "used", value: tokens, series: 1 }]}
      />
      <p class="small">
        <strong class="number">
          {about}
          {number(tokens)}
        </strong>{" "}
        of {count(max_tokens, "token")} · {count(included.length, "memory", "memories")}
        {missing > 0 && <span class="state-warn"> · {number(missing)} left out</span>}
      </p>
      <div class="stack close">
        <Included nodes={included} entries={entries} entered={entered} />
        {left_out.length > 0 && <LeftOut items={left_out} entries={entries} isEstimate={entered !== undefined} />}
        {context.text && <WholeText text={context.text} name={ORDER_NAMES[order]} />}
      </div>
    </section>
  );
}

/** What is left out though it passes the filter. */
export function unfiltered(items: readonly models.LeftOut[]): models.LeftOut[] {
  return items.filter(({ reason }) => reason !== "filtered");
}

function WholeText({ text, name }: { text: string; name: string }): JSX.Element {
  return (
    <details class="small">
      <summary>The text</summary>
      <pre class="stored whole-text" tabIndex={0} role="region" aria-label={`The text, ${name}`}>
        {text.slice(0, WHOLE_TEXT)}
        {text.length > WHOLE_TEXT && "… (the rest is in what you copy)"}
      </pre>
    </details>
  );
}

function CopyButton({ context, isEstimate }: { context: models.Context; isEstimate: boolean }): JSX.Element {
  const name = ORDER_NAMES[context.order];
  const isMissing = context.text === "";
  const reason = context.included.length === 0 ? "There is nothing to copy" : "Only the server writes the headers";
  return (
    <button
      type="button"
      class="button"
      disabled={isMissing}
      title={isMissing ? reason : undefined}
      onClick={() => void copy(context.text, `The text of “${name}”`)}
    >
      Copy {isEstimate && "estimate"}
      <span class="hidden-label">, {name}</span>
    </button>
  );
}

type IncludedProperties = Omit<Properties, "context"> & { nodes: readonly number[] };

function Included({ nodes, entries, entered }: IncludedProperties): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  if (nodes.length === 0) return <p class="small muted">No memory is in it.</p>;
  return (
    <>
      <ol class="included small">
        {nodes.slice(0, shown).map((node) => {
          const entry = entries.get(node);
          return (
            <li key={node}>
              <p class="row muted">
                <Link to={toMemory(node)}>#{node}</Link>
                {entry && <span>{count(entry.tokens, "token")}</span>}
                {entered?.has(node) && <span class="chip">comes in</span>}
              </p>
              {entry && <p class="stored clamp two">{entry.content.slice(0, TEXT)}</p>}
            </li>
          );
        })}
      </ol>
      {nodes.length > shown && (
        <p>
          <button type="button" class="button" onClick={() => setShown(shown + 5 * SHOWN)}>
            Show more of {number(nodes.length)}
          </button>
        </p>
      )}
    </>
  );
}

const REASONS: Record<models.LeftOutReason, string> = {
  no_room: "no room was left",
  oversized: "larger than the whole context",
  forgotten: "it was forgotten meanwhile",
  evicted: "it left the working memory, as a text grew",
  duplicate: "its text is in it already",
  filtered: "the filter leaves it out",
};

interface LeftOutProperties {
  items: readonly models.LeftOut[];
  entries: Properties["entries"];
  isEstimate: boolean;
}

function LeftOut({ items, entries, isEstimate }: LeftOutProperties): JSX.Element {
  return (
    <details class="small">
      <summary>Left out: {number(items.length)}</summary>
      <ol class="included">
        {items.slice(0, 5 * SHOWN).map(({ node, tokens, reason }) => (
          <li key={node}>
            <p class="row">
              <Link to={toMemory(node)}>#{node}</Link>
              <span class="muted">{count(tokens, "token")}</span>
              <span>{isEstimate && reason === "no_room" ? "probably no room" : REASONS[reason]}</span>
            </p>
            <p class="stored clamp one muted">{entries.get(node)?.content.slice(0, TEXT)}</p>
          </li>
        ))}
      </ol>
      {items.length > 5 * SHOWN && <p class="muted">and {number(items.length - 5 * SHOWN)} more</p>}
    </details>
  );
}
