// A working memory as a bar against its budget, with a part for each memory.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { count, number } from "../../components/basics";
import { Link } from "../../router";
import { percent } from "./mind-list";
import { toMemory } from "./places";

// So many memories have a part of their own. Further ones, which are smaller, share one.
const PARTS = 40;
const LABELLED = 5;
// Below this share of the budget, single memories are too narrow to be seen.
const ENLARGED_BELOW = 0.5;

interface Part {
  name: string;
  isLabelled: boolean;
  tokens: number;
  series: number;
}

export function MindBar({ working }: { working: models.Working }): JSX.Element {
  const { nodes, stats } = working;
  const biggest = [...nodes].sort((a, b) => b.tokens - a.tokens);
  const parts = partsOf(nodes, biggest);
  const free = Math.max(0, stats.max_tokens - stats.tokens);
  const isEnlarged = nodes.length > 0 && stats.tokens < ENLARGED_BELOW * stats.max_tokens;
  const usage = `${number(stats.tokens)} of ${count(stats.max_tokens, "token")}`;
  return (
    <div class="stack close mind-use">
      <p class="row use">
        <strong class="number">{usage}</strong>
        <span class="muted">
          {percent(stats.utilisation)} full · {count(stats.nodes, "memory", "memories")} · {count(free, "token")} free
        </span>
      </p>
      <Parts
        parts={isEnlarged ? [{ name: "used", isLabelled: false, tokens: stats.tokens, series: 1 }] : parts}
        whole={stats.max_tokens}
        label={`${usage} are used by ${count(nodes.length, "memory", "memories")}. The biggest follow as a list.`}
      />
      {isEnlarged && (
        <>
          <p class="small muted">The used part, enlarged:</p>
          <Parts parts={parts} whole={stats.tokens} label="The used part, enlarged" />
        </>
      )}
      {nodes.length > 0 && (
        <>
          <p class="small muted ends" aria-hidden="true">
            <span>leaves first</span>
            <span>{isEnlarged ? "leaves last" : "leaves last, then free room"}</span>
          </p>
          <Biggest entries={biggest.slice(0, LABELLED)} parts={parts} tokens={stats.tokens} />
        </>
      )}
    </div>
  );
}

/** The parts in the order in which the memories leave; the small ones together at the end. */
function partsOf(nodes: readonly models.Entry[], biggest: readonly models.Entry[]): Part[] {
  const own = new Set(biggest.slice(0, PARTS).map(({ node }) => node));
  const labelled = new Set(biggest.slice(0, LABELLED).map(({ node }) => node));
  const parts = nodes
    .filter(({ node }) => own.has(node))
    .map(({ node, tokens }, index) => ({ name: `#${node}`, isLabelled: labelled.has(node), tokens, series: (index % 5) + 1 }));
  const rest = nodes.filter(({ node }) => !own.has(node));
  if (rest.length === 0) return parts;
  const tokens = rest.reduce((sum, entry) => sum + entry.tokens, 0);
  return [...parts, { name: `${number(rest.length)} smaller`, isLabelled: true, tokens, series: 6 }];
}

function Parts({ parts, whole, label }: { parts: readonly Part[]; whole: number; label: string }): JSX.Element {
  return (
    <div class="mind-bar" role="img" aria-label={label}>
      {parts.map(({ name, isLabelled, tokens, series }) => (
        <span
          key={name}
          class={`series-${series}`}
          title={`${name}: ${count(tokens, "token")}`}
          style={{ width: `${whole > 0 ? Math.min(100, (100 * tokens) / whole) : 0}%` }}
        >
          {isLabelled && <span class="mind-label">{name}</span>}
        </span>
      ))}
    </div>
  );
}

function Biggest({ entries, parts, tokens }: { entries: readonly models.Entry[]; parts: readonly Part[]; tokens: number }): JSX.Element {
  return (
    <section class="stack close" aria-label="The biggest memories">
      <ul class="biggest small">
        {entries.map((entry) => (
          <li key={entry.node}>
            <span class={`swatch series-${parts.find(({ name }) => name === `#${entry.node}`)?.series ?? 6}`} aria-hidden="true" />
            <Link to={toMemory(entry.node)}>#{entry.node}</Link>
            <span class="number">{count(entry.tokens, "token")}</span>
            <span class="number muted">{percent(entry.tokens / Math.max(1, tokens))} of what is used</span>
            <span class="stored clamp one muted">{entry.content.slice(0, 200)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
