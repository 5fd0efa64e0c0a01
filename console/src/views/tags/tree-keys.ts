// The keys of a tree, as the ARIA Authoring Practices have them.

import type { Branch } from "./tree";

/** To another row, or to fold or unfold this one. */
export type Move = { to: Branch } | { fold: boolean };

/** `typed`: the letters that were typed of late, with this one. */
export function moved(
  key: string,
  typed: string,
  row: Branch,
  rows: readonly Branch[],
  isOpen: (branch: Branch) => boolean,
): Move | undefined {
  const place = rows.indexOf(row);
  const hasChildren = row.children.length > 0;
  switch (key) {
    case "ArrowDown":
      return to(rows[place + 1]);
    case "ArrowUp":
      return to(rows[place - 1]);
    case "Home":
      return to(rows[0]);
    case "End":
      return to(rows.at(-1));
    case "ArrowRight":
      if (hasChildren && !isOpen(row)) return { fold: true };
      return hasChildren ? to(rows[place + 1]) : undefined;
    case "ArrowLeft":
      return hasChildren && isOpen(row) ? { fold: false } : to(row.parent);
    default:
      return key.length === 1 ? to(nextWith(typed, place, rows)) : undefined;
  }
}

function to(row: Branch | undefined): Move | undefined {
  return row && { to: row };
}

/** The next row whose name begins so. A letter leaves this row, also if it is typed again; more letters may stay. */
function nextWith(typed: string, place: number, rows: readonly Branch[]): Branch | undefined {
  const text = [...typed].every((letter) => letter === typed[0]) ? typed.slice(0, 1) : typed;
  const first = text.length === 1 ? place + 1 : place;
  const after = [...rows.slice(first), ...rows.slice(0, first)];
  return after.find((row) => row.label.startsWith(text));
}
