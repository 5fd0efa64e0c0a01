// The drawing: a shape for each memory, and a lasso, by pointer or as a ring by the keyboard.

import type { JSX, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { useWidth } from "../../components/use-width";
import { address, go } from "../../router";
import { circleOf, cornersOf, isWithin, type Place } from "./lasso";
import { shapeOf } from "./marks";
import { onMap, onScreen, pathOf, plotOf, type Plot } from "./plot";
import type { Query } from "./query";
import type { Series } from "./series";

interface Properties {
  series: readonly Series[];
  query: Query;
  choose: (lasso: readonly Place[]) => void;
}

// A pointer that moved less has clicked.
const CLICK = 4;
// A memory is pointed at from so far, in pixels.
const CLOSE = 12;

interface Ring {
  at: Place;
  radius: number;
}

export function Picture({ series, query, choose }: Properties): JSX.Element {
  const [element, width] = useWidth();
  const [line, setLine] = useState<Place[]>();
  const [pointed, setPointed] = useState<models.MapPoint>();
  const [ring, setRing] = useState<Ring>();
  const points = useMemo(() => series.flatMap(({ points }) => points), [series]);
  const plot = useMemo(() => plotOf(points, width), [points, width]);

  const start = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setLine([pixelOf(event)]);
  };
  const move = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const at = pixelOf(event);
    if (line) setLine([...line, at]);
    else setPointed(nearest(points, plot, at));
  };
  const end = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const [first] = line ?? [];
    setLine(undefined);
    if (!line || !first) return;
    if (line.every(({ x, y }) => Math.hypot(x - first.x, y - first.y) < CLICK)) {
      const found = nearest(points, plot, pixelOf(event));
      if (found) go(address(`/console/memories/${found.node}`));
      else choose([]);
      return;
    }
    const corners = cornersOf(line);
    if (corners.length >= 3) choose(corners.map((pixel) => onMap(plot, pixel)));
  };
  const press = (event: TargetedKeyboardEvent<SVGSVGElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = ring ?? { at: plot.middle, radius: 40 / plot.scale };
    const next = moved(now, event.key, plot);
    if (next) setRing(next);
    else if (event.key === "Enter" && ring) choose(circleOf(ring.at, ring.radius));
    else if (event.key === "Escape") {
      setRing(undefined);
      choose([]);
    } else return;
    event.preventDefault();
  };
  const circle = ring && circleOf(ring.at, ring.radius);
  const inRing = circle && `${count(points.filter((point) => isWithin(circle, point)).length, "memory", "memories")} in the ring`;
  const drawn = line ? line.map((pixel) => onMap(plot, pixel)) : query.lasso;
  return (
    <figure class="map-figure">
      <div ref={element}>
        <svg
          class="drawing"
          viewBox={`0 0 ${plot.width} ${plot.height}`}
          height={plot.height}
          role="application"
          tabIndex={0}
          aria-label={`Map of ${count(points.length, "memory", "memories")}. The arrow keys move a ring, plus and minus change its size, Enter lists what is in it, Escape lists everything.`}
          onPointerDown={start}
          onPointerMove={move}
          onPointerUp={end}
          onPointerCancel={() => setLine(undefined)}
          onPointerLeave={() => setPointed(undefined)}
          onKeyDown={press}
          onBlur={() => setRing(undefined)}
        >
          <Shapes series={series} plot={plot} only={query.only} />
          {drawn.length > 0 && <path class="lasso" d={`${pathOf(plot, drawn)}${line ? "" : "Z"}`} />}
          {circle && <path class="lasso ring" d={`${pathOf(plot, circle)}Z`} />}
          {pointed && !line && <circle class="pointed" cx={onScreen(plot, pointed).x} cy={onScreen(plot, pointed).y} r={8} />}
        </svg>
      </div>
      <figcaption class="small">
        <p class="hidden-label" role="status">
          {inRing}
        </p>
        <p class="muted map-pointed">
          {pointed ? (
            <span class="stored">{pointed.excerpt}</span>
          ) : (
            inRing ??
            "Draw around memories to list them; click one to open it. By keyboard: arrow keys, plus, minus and Enter."
          )}
        </p>
      </figcaption>
    </figure>
  );
}

function Shapes({ series, plot, only }: { series: readonly Series[]; plot: Plot; only: string | undefined }): JSX.Element {
  const shapes = useMemo(
    () =>
      series.map(({ name, style, points }) => {
        const parts = points.map((point) => {
          const { x, y } = onScreen(plot, point);
          return shapeOf(style, x, y);
        });
        return { name, style, path: parts.join("") };
      }),
    [series, plot],
  );
  return (
    <g>
      {shapes.map(({ name, style, path }) => (
        <path key={name} class={`fill-${style} ${only === undefined || only === name ? "" : "dimmed"}`} d={path} />
      ))}
    </g>
  );
}

function pixelOf(event: TargetedPointerEvent<SVGSVGElement>): Place {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function nearest(points: readonly models.MapPoint[], plot: Plot, pixel: Place): models.MapPoint | undefined {
  let [found, least]: [models.MapPoint | undefined, number] = [undefined, CLOSE];
  for (const point of points) {
    const { x, y } = onScreen(plot, point);
    const distance = Math.hypot(x - pixel.x, y - pixel.y);
    if (distance < least) [found, least] = [point, distance];
  }
  return found;
}

const STEP = 20;
const GROWTH = 1.25;
const LEAST_RADIUS = 10;

/** The ring after a key, within the picture; none: the key is another one. */
function moved({ at, radius }: Ring, key: string, plot: Plot): Ring | undefined {
  const { width, height } = plot;
  const { x, y } = onScreen(plot, at);
  const to = (x: number, y: number): Ring => {
    const place = { x: Math.max(0, Math.min(width, x)), y: Math.max(0, Math.min(height, y)) };
    return { at: onMap(plot, place), radius };
  };
  const sized = (radius: number): Ring => {
    const pixels = Math.max(LEAST_RADIUS, Math.min(width, radius * plot.scale));
    return { at, radius: pixels / plot.scale };
  };
  switch (key) {
    case "ArrowLeft":
      return to(x - STEP, y);
    case "ArrowRight":
      return to(x + STEP, y);
    case "ArrowUp":
      return to(x, y - STEP);
    case "ArrowDown":
      return to(x, y + STEP);
    case "+":
    case "=":
      return sized(radius * GROWTH);
    case "-":
      return sized(radius / GROWTH);
    default:
      return undefined;
  }
}
