// The tags that are unfolded, as a tree. Only the rows in sight are in the page, so that thousands are no burden.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useHere } from "./here";
import { TagMenu } from "./menu";
import { moved } from "./tree-keys";
import { TreeRow } from "./tree-row";
import { placesOf, type Branch } from "./tree";

interface Properties {
  rows: readonly Branch[];
  isOpen: (branch: Branch) => boolean;
  fold: (branch: Branch, isOpen: boolean) => void;
  chosen: string | undefined;
  choose: (path: string) => void;
  /** What was searched for: it is marked. */
  wanted: string;
}

// In rem, as in tags.css.
const ROW = 2;
const BEYOND = 10;
// Letters that follow each other sooner are of one name.
const TYPED_MS = 1_000;

export function TreeList({ rows, isOpen, fold, chosen, choose, wanted }: Properties): JSX.Element {
  const { ask } = useHere();
  const box = useRef<HTMLDivElement>(null);
  const height = ROW * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const { first, last } = useSight(box, rows.length, height);
  const [active, setActive] = useState<string>();
  const [menu, setMenu] = useState<{ tag: string; anchor: HTMLElement }>();
  const wantsFocus = useRef(false);
  const typed = useRef({ text: "", at: 0 });
  const places = useMemo(() => placesOf(rows), [rows]);
  const place = (path: string | undefined): number => rows.findIndex((row) => row.path === path);
  const activePlace = Math.max(0, place(active), active === undefined ? place(chosen) : 0);

  const show = (index: number): void => {
    const list = box.current;
    if (!list || index < 0) return;
    const [top, bottom] = [index * height, (index + 1) * height];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  };
  const focus = (path: string): void => {
    wantsFocus.current = true;
    setActive(path);
    show(place(path));
  };
  // The row may have come into the page by now.
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    box.current?.querySelector<HTMLElement>("[role=treeitem][tabindex='0']")?.focus({ preventScroll: true });
  });
  useEffect(() => {
    setActive(chosen);
    show(place(chosen));
  }, [chosen]);

  const openMenu = ask && ((tag: string, anchor: HTMLElement): void => setMenu({ tag, anchor }));
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[activePlace];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      if (event.target instanceof HTMLElement) openMenu?.(row.path, event.target);
    } else if (event.key === "Enter" || event.key === " ") choose(row.path);
    else {
      if (event.key.length === 1) {
        const former = event.timeStamp - typed.current.at > TYPED_MS ? "" : typed.current.text;
        typed.current = { text: former + event.key.toLowerCase(), at: event.timeStamp };
      }
      const move = moved(event.key, typed.current.text, row, rows, isOpen);
      if (!move) return;
      if ("fold" in move) fold(row, move.fold);
      else focus(move.to.path);
    }
    event.preventDefault();
  };

  const shown = rows.map((row, index) => ({ row, index }));
  const inSight = shown.filter(({ index }) => (index >= first && index <= last) || index === activePlace);
  return (
    <div class="tag-tree-box" ref={box}>
      <div
        class="tag-tree"
        role="tree"
        aria-label="Tags"
        style={{ height: `${rows.length * height}px` }}
        onKeyDown={onKeyDown}
      >
        {inSight.map(({ row, index }) => (
          <TreeRow
            key={row.path}
            branch={row}
            place={places[index]}
            top={index * height}
            isOpen={isOpen(row)}
            isChosen={row.path === chosen}
            isActive={index === activePlace}
            wanted={wanted}
            choose={() => {
              setActive(row.path);
              choose(row.path);
            }}
            fold={(isOpen) => {
              focus(row.path);
              fold(row, isOpen);
            }}
            openMenu={openMenu && ((anchor) => openMenu(row.path, anchor))}
          />
        ))}
      </div>
      {menu && <TagMenu {...menu} onClose={() => setMenu(undefined)} />}
    </div>
  );
}

/** The places of the rows in sight, and of some beyond. */
function useSight(
  box: { current: HTMLElement | null },
  count: number,
  height: number,
): { first: number; last: number } {
  const [sight, setSight] = useState({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const list = box.current;
    if (!list) return undefined;
    const look = (): void => setSight({ top: list.scrollTop, height: list.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(list);
    list.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      list.removeEventListener("scroll", look);
    };
  }, []);
  const first = Math.floor(sight.top / height) - BEYOND;
  return {
    first: Math.max(0, first),
    last: Math.min(count - 1, first + Math.ceil(sight.height / height) + 2 * BEYOND),
  };
}
