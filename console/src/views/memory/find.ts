// What became of a memory that cannot be read.

import { HtmError, type models } from "htm-memory";
import { htm } from "../../server";

/** It can be restored. */
export interface Forgotten {
  kind: "forgotten";
  excerpt: string;
  robot: string;
  // The rest is in the lists of forgotten memories; it is not found there if it was forgotten long ago.
  namespace?: string;
  deletedAt?: string;
  reason?: models.ForgetReason;
}

/** `unsure`: the caller may not see more. */
export type Found = Forgotten | { kind: "unknown" } | { kind: "unsure" };

// How far the lists of forgotten memories are read.
const NAMESPACES = 20;
const LATEST = 1_000;

// Answers to a caller who may not erase.
const NOT_ADMIN: ReadonlySet<string> = new Set(["role_insufficient", "robot_forbidden"]);

/** Looks for a forgotten memory; a namespace that may be its own is looked at first. */
export async function find(id: number, namespace: string | undefined, signal: AbortSignal): Promise<Found> {
  const match = await existing(id, signal);
  if (match === "none") return { kind: "unknown" };
  const listed = await inLists(id, namespace, signal);
  if (listed) {
    const { excerpt, robot, deleted_at: deletedAt, reason } = listed;
    return { kind: "forgotten", excerpt, robot, deletedAt, reason, namespace: listed.namespace };
  }
  return match === "untold" ? { kind: "unsure" } : { kind: "forgotten", excerpt: match.excerpt, robot: match.robot };
}

/** The memory, forgotten or not. The plan of an erasure tells it, and changes nothing; no other answer does. */
async function existing(id: number, signal: AbortSignal): Promise<models.Match | "none" | "untold"> {
  try {
    const { plan } = await htm.erasures.eraseMany({ ids: [id], dry_run: true }, { signal });
    return plan?.matches[0] ?? "none";
  } catch (failure) {
    if (!(failure instanceof HtmError)) throw failure;
    if (failure.code === "node_not_found") return "none";
    if (NOT_ADMIN.has(failure.code)) return "untold";
    throw failure;
  }
}

async function inLists(
  id: number,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<models.ForgottenNode | undefined> {
  const { namespaces } = await htm.namespaces.list({ limit: NAMESPACES }, { signal });
  const asked = new Set([...(namespace === undefined ? [] : [namespace]), ...namespaces]);
  for (const namespace of asked) {
    const { memories } = await htm.memories.forgotten({ namespace, limit: LATEST }, { signal });
    const found = memories.find(({ node }) => node === id);
    if (found) return found;
  }
  return undefined;
}
