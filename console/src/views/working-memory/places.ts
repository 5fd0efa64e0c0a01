// Addresses within this view.

import { address, queryNow } from "../../router";

const PATH = "/console/working-memory";

/** Whose working memory is looked at. */
export interface Chosen {
  kind: "robot" | "group";
  name: string;
}

export function chosenIn(query: URLSearchParams): Chosen | undefined {
  for (const kind of ["robot", "group"] as const) {
    const name = query.get(kind);
    if (name) return { kind, name };
  }
  return undefined;
}

/** This place with something changed. */
export function here(change: Record<string, string | number | null | undefined>): string {
  return address(PATH, { ...Object.fromEntries(queryNow()), ...change });
}

/** A robot or a group; none: only the list. What is asked of contexts stays, to compare robots. */
export function toMind(chosen: Chosen | undefined): string {
  return here({ robot: null, group: null, ...(chosen ? { [chosen.kind]: chosen.name } : {}) });
}

export function toMemory(id: number): string {
  return address(`/console/memories/${id}`);
}
