// The keys of a tree, as the ARIA Authoring Practices have them.

import type { Branch } from "./tree";

/** To another row, or to fold or unfold this one. */
export type Move = { to: Branch } | { fold: boolean };

export function moved(
  key: string,
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
      return key.length === 1 ? to(nextWith(key.toLowerCase(), place, rows)) : undefined;
  }
}

function to(row: Branch | undefined): Move | undefined {
  return row && { to: row };
}

/** The next row whose name begins with a letter. */
function nextWith(letter: string, place: number, rows: readonly Branch[]): Branch | undefined {
  const after = [...rows.slice(place + 1), ...rows.slice(0, place)];
  return after.find((row) => row.label.startsWith(letter));
}
