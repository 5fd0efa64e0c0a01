// Working memory: that of each robot or group of robots, and the contexts that are made of it.

import type { JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { Link, useNamespace, usePlace } from "../router";
import { usePolled } from "../server";
import { GroupPage } from "./working-memory/group";
import { MindList } from "./working-memory/mind-list";
import { useMinds } from "./working-memory/minds";
import { chosenIn, toMind } from "./working-memory/places";
import { RobotPage } from "./working-memory/robot";
import "./working-memory/contexts.css";
import "./working-memory/working-memory.css";

// Every page of robots counts the memories of all of them.
const LISTED_MS = 30_000;

export function WorkingMemory(): JSX.Element {
  const namespace = useNamespace();
  // What was read of one namespace is not shown for another.
  return <MindsOf key={namespace ?? ""} namespace={namespace} />;
}

function MindsOf({ namespace }: { namespace: string | undefined }): JSX.Element {
  const { query } = usePlace();
  const chosen = chosenIn(query);
  const find = query.get("find") ?? "";
  const [version, setVersion] = useState(0);
  const changed = useCallback(() => setVersion((version) => version + 1), []);
  const minds = useMinds(namespace, version, find !== "");
  usePolled(minds, LISTED_MS);
  return (
    <div class="stack minds">
      <div class={chosen ? "minds-intro chosen" : "minds-intro"}>
        <h1>Working memory</h1>
        <p class="muted">
          What an agent (a robot) uses for its next answer: the memories that it remembered, recalled or was given last, within a
          budget of tokens. What leaves a working memory is not forgotten: it stays in the long-term memory.
        </p>
      </div>
      <div class={chosen ? "minds-parts chosen" : "minds-parts"}>
        <MindList answer={minds} chosen={chosen} find={find} />
        {chosen && (
          <div class="stack mind">
            <p class="back">
              <Link to={toMind(undefined)}>All robots and groups</Link>
            </p>
            {chosen.kind === "robot" ? (
              <RobotPage key={chosen.name} name={chosen.name} version={version} changed={changed} />
            ) : (
              <GroupPage key={chosen.name} name={chosen.name} changed={changed} />
            )}
          </div>
        )}
      </div>
    </div>
  );
}
