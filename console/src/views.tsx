// The views, in the order of the navigation.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Search } from "./views/search";

/** A view. A view below a path has the rest of the path as `rest`. */
export type ShowView = (properties: { rest: string }) => JSX.Element;

export interface View {
  path: string;
  /** Its name in the navigation; none: it is reached from other views. */
  name?: string;
  /** The role that it needs; none: any. */
  needs?: models.Role;
  /** Loads it: the first view does not wait for the others. */
  load: () => Promise<ShowView>;
}

export const VIEWS: readonly View[] = [
  { path: "/", name: "Search", load: async () => Search },
  { path: "/console/timeline", name: "Timeline", load: async () => (await import("./views/timeline")).Timeline },
  { path: "/console/map", name: "Map", load: async () => (await import("./views/map")).Map },
  { path: "/console/memories", load: async () => (await import("./views/memory")).Memory },
  { path: "/console/tags", name: "Tags", load: async () => (await import("./views/tags")).Tags },
  {
    path: "/console/working-memory",
    name: "Working memory",
    load: async () => (await import("./views/working-memory")).WorkingMemory,
  },
  { path: "/console/pipeline", name: "Pipeline", needs: "admin", load: async () => (await import("./views/pipeline")).Pipeline },
  { path: "/console/keys", name: "Keys", needs: "admin", load: async () => (await import("./views/keys")).Keys },
];

const HOME: ReadonlySet<string> = new Set(["/", "/console", "/console/"]);

/** The view at a path, and the rest of the path. */
export function viewAt(path: string): { view: View; rest: string } | undefined {
  const view = VIEWS.find((view) => (view.path === "/" ? HOME.has(path) : path === view.path || path.startsWith(`${view.path}/`)));
  return view && { view, rest: decoded(path.slice(view.path.length)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
