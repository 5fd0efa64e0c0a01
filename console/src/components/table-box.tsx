// A table that scrolls by itself. It can be focused, so that it also scrolls by the keyboard.

import type { ComponentChildren, JSX } from "preact";

export function TableBox({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table class="table">{children}</table>
    </div>
  );
}

/** A column by its head: a name, the name of numbers, one that is heard but not seen, or something else. None: it is left out. */
type Column = string | { number: string } | { hidden: string } | { shown: ComponentChildren } | undefined | false;

/** The row of heads. */
export function Heads({ columns }: { columns: readonly Column[] }): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map((column, index) => column && <Head key={index} column={column} />)}
      </tr>
    </thead>
  );
}

function Head({ column }: { column: Exclude<Column, undefined | false> }): JSX.Element {
  if (typeof column === "string") return <th scope="col">{column}</th>;
  if ("shown" in column) return <th scope="col">{column.shown}</th>;
  if ("number" in column) {
    return (
      <th scope="col" class="number">
        {column.number}
      </th>
    );
  }
  return (
    <th scope="col">
      <span class="hidden-label">{column.hidden}</span>
    </th>
  );
}
