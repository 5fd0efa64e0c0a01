// The question that brings what a query finds into a working memory.

import type { JSX } from "preact";
import { count } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { go } from "../../router";
import { htm } from "../../server";
import { leftText, type Whose } from "./acts";
import { filterOf, type ContextQuery } from "./context-query";
import type { TakenIn } from "./estimate";
import { here } from "./places";

interface Properties {
  taken: TakenIn;
  whose: Whose;
  query: ContextQuery;
  onClose: () => void;
  changed: () => void;
}

export function BringDialog({ taken, whose, query, onClose, changed }: Properties): JSX.Element {
  const { namespace, robot } = whose;
  const held = async (): Promise<Set<number>> => {
    const { nodes } = await htm.workingMemory.get(robot, { namespace });
    return new Set(nodes.map(({ node }) => node));
  };
  const act = async (): Promise<void> => {
    // What came in for a moment only is among neither.
    const before = await held();
    await htm.recall.recall({
      query: query.text,
      filter: filterOf(query, namespace),
      limit: query.hits,
      robot,
      count_accesses: false,
    });
    const after = await held();
    const entered = [...after].filter((id) => !before.has(id));
    const left = [...before].filter((id) => !after.has(id));
    changed();
    say(`${count(entered.length, "memory", "memories")} came into working memory${leftText(left)}.`, async () => {
      for (const id of entered) await htm.workingMemory.remove(robot, id, { namespace });
      if (left.length > 0) await htm.workingMemory.add(robot, { namespace, nodes: left });
      changed();
    });
  };
  const onDone = (): void => {
    go(here({ q: null }));
    onClose();
  };
  return (
    <Confirm title="Add what is found to working memory" verb="Add it" act={act} onClose={onClose} onDone={onDone}>
      <p>
        <span class="stored">{robot}</span> is asked <q class="stored">{query.text}</q>. By what is known now,{" "}
        {count(taken.entered.size, "memory comes", "memories come")} in, and {count(taken.used.size, "memory", "memories")} already in
        mind {taken.used.size === 1 ? "counts" : "count"} as used.
      </p>
      {taken.left.length > 0 && (
        <div class="notice warn">
          <p>{count(taken.left.length, "memory leaves", "memories leave")} for it:</p>
          <ul class="small">
            {taken.left.slice(0, 10).map(({ node, content }) => (
              <li key={node} class="stored clamp one">
                #{node} {content.slice(0, 200)}
              </li>
            ))}
          </ul>
          {taken.left.length > 10 && <p class="small">and {count(taken.left.length - 10, "more", "more")}</p>}
        </div>
      )}
      <p class="small muted">
        Undo takes out what came in and adds what left, but as if it were added now: when it came in before, and how often it was used, is
        lost. In the statistics of the memories it does not count as a recall.
      </p>
    </Confirm>
  );
}
