// What can be done with a robot's working memory, and the ways back.

import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { attempt, say } from "../../components/toasts";
import { htm } from "../../server";
import { edit } from "../../components/memory-acts";

export interface Whose {
  namespace: string | undefined;
  robot: string;
}

export interface Acts {
  isActing: boolean;
  add: (id: number) => Promise<void>;
  use: (id: number) => Promise<void>;
  remove: (id: number) => Promise<void>;
}

/** The acts. One at a time; `changed` is called after each, and after each way back. */
export function useActs({ namespace, robot }: Whose, changed: () => void): Acts {
  const [isActing, setActing] = useState(false);
  const run = async (act: () => Promise<void>): Promise<void> => {
    setActing(true);
    await attempt(act);
    setActing(false);
    changed();
  };
  const put = (nodes: number[]): Promise<models.Intake> => htm.workingMemory.add(robot, { namespace, nodes });
  const take = (id: number): Promise<unknown> => htm.workingMemory.remove(robot, id, { namespace });
  return {
    isActing,
    add: (id) =>
      run(async () => {
        const { evicted, oversized } = await put([id]);
        if (oversized[0]) {
          say(`Memory ${id} was not added: it has ${count(oversized[0].tokens, "token")}, more than the whole budget.`);
          return;
        }
        say(`Memory ${id} is in working memory now${leftText(evicted)}.`, () =>
          run(async () => {
            await take(id);
            if (evicted.length > 0) await put(evicted);
          }),
        );
      }),
    use: (id) =>
      run(async () => {
        await put([id]);
        say(`Memory ${id} counts as used now.`);
      }),
    remove: (id) =>
      run(async () => {
        await take(id);
        say(`Memory ${id} left the working memory. It is still remembered.`, () =>
          run(async () => {
            await put([id]);
            say(`Memory ${id} is back, as one that was added now.`);
          }),
        );
      }),
  };
}

/** Which memories left for others, as the end of a sentence. */
export function leftText(evicted: readonly number[]): string {
  if (evicted.length === 0) return "";
  if (evicted.length > 3) return `; ${count(evicted.length, "memory", "memories")} left for it`;
  return `; ${evicted.map((id) => `#${id}`).join(", ")} left for it`;
}

/** Changes the importance of a memory, for everybody. Returns what it was. */
export async function setImportance(id: number, importance: number): Promise<number> {
  const memory = await htm.memories.get(id);
  await edit(memory, { importance });
  return memory.importance;
}
