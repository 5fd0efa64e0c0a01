// What all parts of this view share.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { models } from "htm-memory";
import type { Asked, Request } from "./changes";
import type { Tree } from "./tree";

interface Here {
  namespace: string | undefined;
  tree: Tree;
  /** Another number after each change: what was read before it is read again. */
  version: number;
  /** Opens the form of a change; none: the user's key does not allow changes, and none is offered. */
  ask: ((asked: Asked) => void) | undefined;
  /** Goes to a tag, or to none. */
  choose: (tag: string | undefined) => void;
  /** Says what was done, with a way back, and reads everything again. */
  made: (request: Request, changed: models.Changed) => void;
}

const nothing = (): void => undefined;

export const HereContext = createContext<Here>({
  namespace: undefined,
  tree: { roots: [], byPath: new Map() },
  version: 0,
  ask: undefined,
  choose: nothing,
  made: nothing,
});

export function useHere(): Here {
  return useContext(HereContext);
}
