// The menu of a tag.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { address, go } from "../../router";
import type { Asked } from "./changes";
import { useHere } from "./here";

interface Item {
  name: string;
  asked?: Asked;
  to?: string;
}

function itemsOf(tag: string): Item[] {
  return [
    { name: "Merge into another tag …", asked: { act: "merge", from: [tag] } },
    { name: "Rename or move …", asked: { act: "rename", tag } },
    { name: "Split into several …", asked: { act: "split", tag } },
    { name: "Describe …", asked: { act: "describe", tag } },
    { name: "Add another name …", asked: { act: "add_synonym", tag } },
    { name: "New tag below it …", asked: { act: "add", below: tag } },
    { name: "Search with this tag", to: address("/", { tag }) },
    { name: "Remove …", asked: { act: "remove", tag } },
  ];
}

interface MenuProperties {
  tag: string;
  /** Where it opens. The focus goes back to it, or to the row of the tree that it is in. */
  anchor: HTMLElement;
  onClose: () => void;
}

const GAP = 4;

export function TagMenu({ tag, anchor, onClose }: MenuProperties): JSX.Element {
  const { ask } = useHere();
  const element = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: 0, top: 0 });
  const goBack = (): void => (anchor.closest<HTMLElement>("[role=treeitem]") ?? anchor).focus();
  useLayoutEffect(() => {
    const menu = element.current;
    if (!menu) return;
    menu.showPopover();
    setPlace(placeOf(anchor.getBoundingClientRect(), menu.getBoundingClientRect()));
    menu.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, []);
  // It is fixed to the window, and what it belongs to may scroll away.
  useEffect(() => {
    addEventListener("resize", onClose);
    return () => removeEventListener("resize", onClose);
  }, []);
  const choose = (item: Item): void => {
    goBack();
    onClose();
    if (item.asked) ask?.(item.asked);
    if (item.to) go(item.to);
  };
  return (
    <div
      ref={element}
      class="tag-menu"
      role="menu"
      aria-label={`What to do with ${tag}`}
      popover="auto"
      style={{ left: `${place.left}px`, top: `${place.top}px` }}
      onToggle={(event) => event.newState === "closed" && onClose()}
      onKeyDown={(event) => {
        moveIn(event);
        if (event.key === "Tab") onClose();
        if (event.key === "Escape") goBack();
      }}
    >
      {itemsOf(tag).map((item) => (
        <button
          key={item.name}
          type="button"
          role="menuitem"
          class="tag-menu-item"
          tabIndex={-1}
          onClick={() => choose(item)}
        >
          {item.name}
        </button>
      ))}
    </div>
  );
}

/** Below the anchor, or above it where there is more room; never beyond the window. */
function placeOf(anchor: DOMRect, menu: DOMRect): { left: number; top: number } {
  const below = anchor.bottom + GAP;
  const isLow = below + menu.height > innerHeight && anchor.top > innerHeight - anchor.bottom;
  return {
    left: Math.max(GAP, Math.min(anchor.left, innerWidth - menu.width - GAP)),
    top: isLow
      ? Math.max(GAP, anchor.top - menu.height - GAP)
      : Math.max(GAP, Math.min(below, innerHeight - menu.height - GAP)),
  };
}

/** The arrow keys, Home and End go from item to item. */
function moveIn(event: KeyboardEvent): void {
  if (!(event.currentTarget instanceof HTMLElement)) return;
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
  const place = items.findIndex((item) => item === document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items[next % items.length]?.focus();
}

interface ButtonProperties {
  tag: string;
  children: string;
}

/** A button that opens the menu of a tag. */
export function MenuButton({ tag, children }: ButtonProperties): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen((isOpen) => !isOpen)}
      >
        {children}
      </button>
      {isOpen && button.current && <TagMenu tag={tag} anchor={button.current} onClose={() => setOpen(false)} />}
    </>
  );
}
