// Addresses within this view.

import { address, queryNow } from "../../router";

export const PATH = "/console/tags";

/** This place with something changed. */
export function here(change: Record<string, string | undefined>): string {
  return address(PATH, { ...Object.fromEntries(queryNow()), ...change });
}

/** A tag among all tags; none: only these. */
export function toTag(tag: string | undefined): string {
  return here({ tag, part: undefined, most: undefined });
}
