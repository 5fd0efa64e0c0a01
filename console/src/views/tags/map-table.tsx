// The numbers of the map.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link } from "../../router";
import type { Item } from "./map-tiles";
import { toTag } from "./places";

const SHOWN = 50;
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

export function MapTable({ items }: { items: readonly Item[] }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && <Rows items={items} />}
    </details>
  );
}

function Rows({ items }: { items: readonly Item[] }): JSX.Element {
  const [from, setFrom] = useState(0);
  const sum = items.reduce((sum, { value }) => sum + value, 0);
  return (
    <>
      <TableBox label="Tags of the map">
        <Heads columns={["Tag", { number: "Memories" }, { number: "Share of the map" }]} />
        <tbody>
          {items.slice(from, from + SHOWN).map(({ label, branch, value }) => (
            <tr key={branch?.path ?? label}>
              <td class="stored">{branch ? <Link to={toTag(branch.path)}>{branch.path}</Link> : label}</td>
              <td class="number">{number(value)}</td>
              <td class="number">{percent.format(sum > 0 ? value / sum : 0)}</td>
            </tr>
          ))}
        </tbody>
      </TableBox>
      {items.length > SHOWN && (
        <p class="row">
          <button type="button" class="button" disabled={from === 0} onClick={() => setFrom(from - SHOWN)}>
            Previous {SHOWN}
          </button>
          <span class="small muted" role="status">
            {number(from + 1)} to {number(Math.min(items.length, from + SHOWN))} of {number(items.length)}
          </span>
          <button
            type="button"
            class="button"
            disabled={from + SHOWN >= items.length}
            onClick={() => setFrom(from + SHOWN)}
          >
            Next {SHOWN}
          </button>
        </p>
      )}
    </>
  );
}
