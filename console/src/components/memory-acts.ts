// What can be done with a memory.

import { HtmError, type models } from "htm-memory";
import { htm } from "../server";

/** Who may change it. */
interface By {
  any_robot?: true;
  namespace?: string;
}

/**
 * Does something to a memory, whoever has remembered it. Only where the key acts as a robot it is that robot: it may
 * change what it has remembered itself.
 */
async function asAnyone<T>(act: (by: By) => Promise<T>, namespace: string | undefined): Promise<T> {
  try {
    return await act({ any_robot: true });
  } catch (failure) {
    if (!(failure instanceof HtmError) || failure.code !== "robot_forbidden") throw failure;
    return act(namespace === undefined ? {} : { namespace });
  }
}

type Which = Pick<models.Node, "id" | "namespace">;

/** Changes a memory; with a revision, only if its text has not been edited since. */
export function edit(
  { id, namespace }: Which,
  changes: models.MemoryEdit,
  ifRevision?: number,
): Promise<models.EditedNow> {
  const options = ifRevision === undefined ? {} : { ifRevision };
  return asAnyone((by) => htm.memories.edit(id, { ...changes, ...by }, options), namespace);
}

export function forget(id: number, namespace?: string): Promise<models.Deleted> {
  return asAnyone((by) => htm.memories.forget(id, { ...by, confirm: true }), namespace);
}

export function restore(id: number, namespace?: string): Promise<models.Restored> {
  return asAnyone((by) => htm.memories.restore(id, by), namespace);
}
