// A row of the tree: a tag, how many memories have it, and its menu.

import type { JSX } from "preact";
import { count, number } from "../../components/basics";
import type { Branch, Place } from "./tree";

interface Properties {
  branch: Branch;
  /** Told, because not all rows are in the page. */
  place: Place | undefined;
  top: number;
  isOpen: boolean;
  isChosen: boolean;
  isActive: boolean;
  wanted: string;
  choose: () => void;
  fold: (isOpen: boolean) => void;
  /** None: nothing may be changed. */
  openMenu: ((anchor: HTMLElement) => void) | undefined;
}

export function TreeRow({
  branch,
  place,
  top,
  isOpen,
  isChosen,
  isActive,
  wanted,
  choose,
  fold,
  openMenu,
}: Properties): JSX.Element {
  const { use, level, label, children } = branch;
  const hasChildren = children.length > 0;
  const called = wanted ? branch.synonyms.find((name) => name.includes(wanted)) : undefined;
  return (
    <div
      class="tag-row"
      role="treeitem"
      aria-level={level}
      aria-posinset={place?.place}
      aria-setsize={place?.siblings}
      aria-expanded={hasChildren ? isOpen : undefined}
      aria-selected={isChosen}
      aria-label={spoken(branch)}
      tabIndex={isActive ? 0 : -1}
      title={branch.path}
      style={{ top: `${top}px`, paddingInlineStart: `${level - 1}rem` }}
      onClick={choose}
    >
      {hasChildren ? (
        <button
          type="button"
          class="tag-row-fold"
          tabIndex={-1}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            fold(!isOpen);
          }}
        >
          {isOpen ? "▾" : "▸"}
        </button>
      ) : (
        <span class="tag-row-fold" />
      )}
      <span class="tag-row-name">
        <Marked text={label} wanted={wanted} />
        {called && <span class="muted small"> also {called}</span>}
      </span>
      <span class="number small muted">{hasChildren ? number(use.nodes) : ""}</span>
      <span class="number">{number(use.total)}</span>
      {openMenu && (
        <button
          type="button"
          class="tag-row-menu"
          tabIndex={-1}
          aria-hidden="true"
          title={`What to do with ${branch.path}`}
          onClick={(event) => {
            event.stopPropagation();
            openMenu(event.currentTarget);
          }}
        >
          ⋯
        </button>
      )}
    </div>
  );
}

function spoken({ label, use, children }: Branch): string {
  const memories = count(use.total, "memory", "memories");
  return children.length > 0
    ? `${label}, ${memories}, ${number(use.nodes)} of them with exactly this tag`
    : `${label}, ${memories}`;
}

function Marked({ text, wanted }: { text: string; wanted: string }): JSX.Element {
  const start = wanted ? text.indexOf(wanted) : -1;
  if (start < 0) return <>{text}</>;
  const end = start + wanted.length;
  return (
    <>
      {text.slice(0, start)}
      <mark>{text.slice(start, end)}</mark>
      {text.slice(end)}
    </>
  );
}
