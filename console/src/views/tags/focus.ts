// Where the focus goes when a change of tags has removed what had it.

import type { RefObject } from "preact";
import { useFocusTaker as useTaker } from "../../components/focus";
import { useHere } from "./here";

/** A heading that takes the focus if a change has removed what had it. `shown` is what is shown anew after a change. */
export function useFocusTaker(shown: unknown): RefObject<HTMLHeadingElement | null> {
  return useTaker(shown, useHere().version > 0);
}
