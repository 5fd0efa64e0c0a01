// A table that scrolls by itself. It can be focused, so that it also scrolls by the keyboard.

import type { ComponentChildren, JSX } from "preact";

export function TableBox({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table class="table">{children}</table>
    </div>
  );
}
