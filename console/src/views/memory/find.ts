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

interface Caller {
  /** May be that of the memory, and is looked at first. */
  namespace: string | undefined;
  mayErase: boolean;
  /** Whether it sees all namespaces. */
  seesAll: boolean;
}

/** Looks for a forgotten memory. */
export async function find(id: number, { namespace, mayErase, seesAll }: Caller, signal: AbortSignal): Promise<Found> {
  const match = mayErase ? await existing(id, signal) : "untold";
  if (match === "none") return { kind: seesAll ? "unknown" : "unsure" };
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
    // An admin whose key acts as a robot.
    if (failure.code === "robot_forbidden") return "untold";
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
