// Something that is done to a job, one at a time.

import { useState } from "preact/hooks";
import { focusIfLost } from "../../components/focus";

/**
 * Does something. Meanwhile buttons are to be disabled. `heir`: what has the focus afterwards, if the button that had it
 * is gone.
 */
export function useActing(heir: () => HTMLElement | null | undefined): {
  isActing: boolean;
  act: (work: () => Promise<unknown>) => Promise<void>;
} {
  const [isActing, setActing] = useState(false);
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setActing(true);
    await work();
    setActing(false);
    focusIfLost(heir);
  };
  return { isActing, act };
}
