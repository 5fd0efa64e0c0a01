// Something that is done to a job, one at a time.

import { useState } from "preact/hooks";

/** Does something, and reloads afterwards. Meanwhile buttons are to be disabled. */
export function useActing(reload: () => void): { isActing: boolean; act: (work: () => Promise<boolean>) => Promise<void> } {
  const [isActing, setActing] = useState(false);
  const act = async (work: () => Promise<boolean>): Promise<void> => {
    setActing(true);
    await work();
    setActing(false);
    reload();
  };
  return { isActing, act };
}
