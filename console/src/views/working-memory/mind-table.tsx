// The working memory of a robot, in the order of eviction.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Time, count, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link } from "../../router";
import type { Acts } from "./acts";
import { importanceText, leavingOf, type Leaving } from "./eviction";
import { ImportanceDialog } from "./importance";
import { toMemory } from "./places";

const SHOWN = 50;
const TEXT = 500;

interface Properties {
  working: models.Working;
  /** Undefined: who looks may not change it. */
  acts: Acts | undefined;
  changed: () => void;
}

export function MindTable({ working, acts, changed }: Properties): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  const [weighed, setWeighed] = useState<models.Entry>();
  const leaving = leavingOf(working);
  return (
    <>
      <TableBox label="Memories of the working memory">
        <caption class="hidden-label">Working memory, in the order of eviction</caption>
        <Heads
          columns={[
            { number: "Leaves" },
            "Memory",
            { number: "Tokens" },
            { number: "Importance" },
            "Used again",
            "Added",
            "Why in this place",
          ]}
        />
        <tbody>
          {leaving.slice(0, shown).map((item, index) => (
            <Row key={item.entry.node} leaving={item} place={index + 1} acts={acts} weigh={() => setWeighed(item.entry)} />
          ))}
        </tbody>
      </TableBox>
      {leaving.length > shown && (
        <p>
          <button type="button" class="button" onClick={() => setShown(shown + 4 * SHOWN)}>
            Show more of {number(leaving.length)}
          </button>
        </p>
      )}
      {weighed && <ImportanceDialog entry={weighed} onClose={() => setWeighed(undefined)} changed={changed} />}
    </>
  );
}

interface RowProperties {
  leaving: Leaving;
  place: number;
  acts: Acts | undefined;
  weigh: () => void;
}

function Row({ leaving: { entry, room, why }, place, acts, weigh }: RowProperties): JSX.Element {
  const { node, content, tokens, importance, accesses, accessed_at, added_at } = entry;
  return (
    <tr class={place === 1 ? "next" : ""}>
      <td class="number">{place === 1 ? <strong>next</strong> : `${place}.`}</td>
      <td class="mind-text">
        <p class="stored clamp">{content.length > TEXT ? `${content.slice(0, TEXT)}…` : content}</p>
        <div class="row mind-acts">
          <Link class="small" to={toMemory(node)}>
            Memory {node}
          </Link>
          {acts && <RowActs node={node} acts={acts} weigh={weigh} />}
        </div>
      </td>
      <td class="number">{number(tokens)}</td>
      <td class="number">{importanceText(importance)}</td>
      <td class="nowrap">
        {accesses === 0 ? (
          <span class="muted">not yet</span>
        ) : (
          <>
            {count(accesses, "time")}
            <p class="small muted">
              <Time at={accessed_at} />
            </p>
          </>
        )}
      </td>
      <td class="nowrap">
        <Time at={added_at} />
      </td>
      <td class="mind-why small">
        <p>{why}</p>
        <p class="muted">{room === 0 ? "Leaves with anything new" : `Leaves when more than ${count(room, "token")} come in`}</p>
      </td>
    </tr>
  );
}

function RowActs({ node, acts, weigh }: { node: number; acts: Acts; weigh: () => void }): JSX.Element {
  return (
    <>
      <button type="button" class="button" disabled={acts.isActing} onClick={() => void acts.remove(node)}>
        Remove<span class="hidden-label"> memory {node}</span>
      </button>
      <button type="button" class="button" disabled={acts.isActing} onClick={() => void acts.use(node)}>
        Mark as used<span class="hidden-label">: memory {node}</span>
      </button>
      <button type="button" class="button" onClick={weigh}>
        Importance …<span class="hidden-label"> of memory {node}</span>
      </button>
    </>
  );
}
