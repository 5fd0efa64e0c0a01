// The page of a memory.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { focusContent } from "../../components/focus";
import { useMay } from "../../components/sign-in";
import { attempt, say } from "../../components/toasts";
import { Link, address, usePlace } from "../../router";
import { forget, restore } from "../../components/memory-acts";
import { EraseDialog } from "./erase";
import { Facts } from "./facts";
import { History } from "./history";
import { keptDraft } from "./kept-drafts";
import { KeptBy } from "./keepers";
import { Conversation } from "./neighbours";
import { firstWords } from "./passage";
import { Processing, useStatus } from "./processing";
import { Relations } from "./relations";
import { Similar } from "./similar";
import { Tags } from "./tags";
import { Text } from "./text";
import { useTitle } from "../../components/title";

interface Properties {
  memory: models.Node;
  reload: () => void;
}

export function Page({ memory, reload }: Properties): JSX.Element {
  const title = firstWords(memory.content);
  const status = useStatus(memory);
  useTitle(title);
  return (
    <div class="stack memory-view">
      <div class="page-head">
        <div>
          <p class="small muted">Memory {memory.id}</p>
          <h1 class="stored">{title}</h1>
        </div>
        <Actions memory={memory} reload={reload} />
      </div>
      <div class="memory-parts">
        <div class="stack memory-first">
          <Text memory={memory} />
          <Tags memory={memory} tagging={status.value?.stages.find(({ stage }) => stage === "tag")} reload={reload} />
        </div>
        <div class="stack memory-side">
          <Facts memory={memory} />
          <KeptBy memory={memory} />
        </div>
        <div class="stack memory-second">
          <Relations memory={memory} />
          <Conversation memory={memory} />
          <Similar memory={memory} />
          <History memory={memory} reload={reload} />
          <Processing memory={memory} status={status} reload={reload} />
        </div>
      </div>
    </div>
  );
}

function Actions({ memory: { id, namespace }, reload }: Properties): JSX.Element {
  const { path } = usePlace();
  const [isActing, setActing] = useState(false);
  const mayWrite = useMay("writer");
  const mayErase = useMay("admin");
  const [isErasing, setErasing] = useState(false);
  const putAway = async (): Promise<void> => {
    setActing(true);
    const isDone = await attempt(() => forget(id, namespace));
    setActing(false);
    if (!isDone) return;
    focusContent();
    const undo = async (): Promise<void> => {
      await restore(id, namespace);
      reload();
    };
    say(`Memory ${id} is forgotten: no search finds it.`, undo, { about: `memory ${id}` });
    reload();
  };
  return (
    <div class="row">
      {mayWrite && (
        <>
          <Link class="button primary" to={address(path, { edit: "yes" })}>
            {keptDraft(id) ? "Go on editing" : "Edit"}
          </Link>
          <button
            type="button"
            class="button"
            disabled={isActing}
            title="No search finds it any more. It can be restored."
            onClick={putAway}
          >
            Forget
          </button>
        </>
      )}
      {mayErase && (
        <button type="button" class="button danger" onClick={() => setErasing(true)}>
          Erase …
        </button>
      )}
      {isErasing && <EraseDialog id={id} onClose={() => setErasing(false)} reload={reload} />}
    </div>
  );
}
