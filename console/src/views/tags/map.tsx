// A picture of the tags: each as large as it has memories. The same numbers are in a table below it.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, number } from "../../components/basics";
import { Link } from "../../router";
import { useHere } from "./here";
import { MapTable } from "./map-table";
import { HEAD, itemsOf, shownAt, tilesOf, type Tile } from "./map-tiles";
import { toTag } from "./places";
import { above } from "./tree";

export function TagMap({ chosen }: { chosen: string | undefined }): JSX.Element {
  const { tree } = useHere();
  const at = shownAt(tree, chosen);
  const { box, size } = useSize();
  const tiles = useMemo(() => tilesOf(tree, at, { x: 0, y: 0, ...size }), [tree, at, size]);
  const items = useMemo(() => itemsOf(tree, at), [tree, at]);
  // One stop for the Tab key; the arrow keys go from tile to tile.
  const [active, setActive] = useState<string>();
  const first = tiles.find((tile) => isTarget(tile))?.path;
  const stop = tiles.some((tile) => [tile, ...tile.inner].some((it) => it.path === active && isTarget(it)))
    ? active
    : first;
  const properties = { chosen, stop };
  return (
    <section class="card tag-map" aria-label="Map of the tags">
      <nav class="row tag-crumbs" aria-label="The tags above">
        <Link to={toTag(undefined)} aria-current={at ? undefined : "true"}>
          All tags
        </Link>
        {at &&
          [...above(at), at].map((it) => (
            <Link key={it.path} to={toTag(it.path)} aria-current={it === at ? "true" : undefined}>
              {it.label}
            </Link>
          ))}
      </nav>
      {items.length === 0 ? (
        <p class="muted">No memory has one of these tags.</p>
      ) : (
        <div
          ref={box}
          class="tag-map-box"
          role="group"
          aria-label={described(at?.path ?? "All tags", items.length)}
          onKeyDown={moveFocus}
          onFocusCapture={(event) => event.target instanceof HTMLElement && setActive(event.target.dataset["tag"])}
        >
          {tiles.map((tile) => (
            <OuterTile key={tile.path ?? tile.label} tile={tile} {...properties} />
          ))}
        </div>
      )}
      {items.length > 0 && (
        <>
          <p class="small muted">
            A tile is as large as its tag has memories. A memory with several tags counts in each.
          </p>
          <MapTable key={at?.path} items={items} />
        </>
      )}
    </section>
  );
}

function described(of: string, parts: number): string {
  return `${of}: ${count(parts, "part")}, sized by memories. The arrow keys go from one to the next.`;
}

interface TileProperties {
  tile: Tile;
  chosen: string | undefined;
  stop: string | undefined;
}

function OuterTile({ tile, ...rest }: TileProperties): JSX.Element {
  if (tile.inner.length === 0) return <PlainTile tile={tile} {...rest} />;
  const head = { ...tile, box: { x: 0, y: 0, width: tile.box.width, height: HEAD } };
  return (
    <div class={`tag-tile tag-tile-around tag-tint-${tile.series}`} style={placed(tile)}>
      <PlainTile tile={head} isHead {...rest} />
      {tile.inner.map((inner) => (
        <PlainTile key={inner.path ?? inner.label} tile={inner} {...rest} />
      ))}
    </div>
  );
}

function PlainTile({ tile, chosen, stop, isHead }: TileProperties & { isHead?: boolean }): JSX.Element {
  const { label, short, path, value, box, series } = tile;
  const memories = count(value, "memory", "memories");
  const text = box.width >= 34 && box.height >= 18 && (
    <>
      <span class="tag-tile-name">{short}</span>
      {(box.height >= 40 || isHead) && <span class="tag-tile-count">{number(value)}</span>}
    </>
  );
  const shared = { title: `${path ?? label}: ${memories}`, style: placed(tile) };
  const looks = `tag-tile ${isHead ? "tag-tile-head" : `tag-tint-${series}`} ${text ? "" : "tag-tile-bare"}`;
  if (!path || !isTarget(tile)) {
    return (
      <div class={`${looks} ${path ? "" : "tag-tile-other"}`} {...shared}>
        {text}
      </div>
    );
  }
  return (
    <Link
      to={toTag(path)}
      class={looks}
      data-tag={path}
      tabIndex={path === stop ? 0 : -1}
      aria-label={`${path}, ${memories}`}
      aria-current={path === chosen ? "true" : undefined}
      {...shared}
    >
      {text}
    </Link>
  );
}

/** Whether a tile is large enough for a finger. The table has the others. */
function isTarget({ path, box, inner }: Tile): boolean {
  return path !== undefined && box.width >= 24 && (box.height >= 24 || inner.length > 0);
}

function placed({ box }: Tile): Record<string, string> {
  return { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` };
}

function useSize(): { box: (element: HTMLDivElement | null) => void; size: { width: number; height: number } } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const box = useRef(setElement).current;
  useLayoutEffect(() => {
    if (!element) return undefined;
    const look = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, [element]);
  return { box, size };
}

function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-tag]")];
  links[links.findIndex((link) => link === document.activeElement) + step]?.focus();
}
