// A robot: its working memory, and the contexts that are made of it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, Time, count, number } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { useMay, useUser } from "../../components/sign-in";
import { say } from "../../components/toasts";
import { Link, address, useNamespace, usePlace } from "../../router";
import { htm, useAnswer, usePolled } from "../../server";
import { useTitle } from "../../components/title";
import { useActs, type Acts } from "./acts";
import { AddMemory } from "./add";
import { BudgetDialog } from "./budget";
import { Contexts } from "./contexts";
import { MindBar } from "./mind-bar";
import { MindTable } from "./mind-table";
import { here, toMind } from "./places";

// Every answer has the texts of all memories.
const WATCHED_MS = 30_000;

interface Read {
  robot: models.RobotStatistics;
  working: models.Working;
}

interface Properties {
  name: string;
  version: number;
  changed: () => void;
}

export function RobotPage({ name, version, changed }: Properties): JSX.Element {
  const namespace = useNamespace();
  const answer = useAnswer(
    async (signal): Promise<Read> => {
      const [robot, working] = await Promise.all([
        htm.robots.get(name, { namespace }, { signal }),
        htm.workingMemory.get(name, { namespace }, { signal }),
      ]);
      return { robot, working };
    },
    [namespace, name, version],
  );
  usePolled(answer, WATCHED_MS);
  useTitle(`${name} · Working memory`);
  if (answer.error?.code === "robot_unknown") {
    return (
      <Empty>
        <h2 class="stored">{name}</h2>
        <p>
          There is no robot of this name in {namespace ?? "this namespace"}, and so no working memory. A robot has one as soon as it has
          remembered or recalled something.
        </p>
      </Empty>
    );
  }
  return <Awaited answer={answer} isPolled>{(read) => <Robot {...read} namespace={namespace} changed={changed} />}</Awaited>;
}

interface RobotProperties extends Read {
  namespace: string | undefined;
  changed: () => void;
}

function Robot({ robot, working, namespace, changed }: RobotProperties): JSX.Element {
  const { query } = usePlace();
  const part = query.get("part") === "context" ? "context" : "";
  const acts = useActs({ namespace, robot: robot.name }, changed);
  const may = useMayChange(robot.name);
  const unfit = robot.in_working_memory - working.stats.nodes;
  return (
    <>
      <Head robot={robot} working={working} namespace={namespace} changed={changed} />
      <div class="card">
        <MindBar working={working} />
      </div>
      {unfit > 0 && (
        <p class="notice warn small">
          {count(unfit, "more memory is", "more memories are")} saved for this robot but {unfit === 1 ? "does" : "do"} not fit its budget. A
          bigger budget brings {unfit === 1 ? "it" : "them"} back; the next memory that comes in ends that.
        </p>
      )}
      <nav class="tabs" aria-label="Parts of this robot">
        <Link to={here({ part: null })} aria-current={part === "" ? "page" : undefined}>
          In mind <span class="number muted">{number(working.nodes.length)}</span>
        </Link>
        <Link to={here({ part: "context" })} aria-current={part === "context" ? "page" : undefined}>
          Context for a prompt
        </Link>
      </nav>
      {part === "context" ? (
        <Contexts whose={{ namespace, robot: robot.name }} working={working} mayChange={may} changed={changed} />
      ) : (
        <>
          {may && <AddMemory namespace={namespace} working={working} acts={acts} />}
          <InMind working={working} acts={may ? acts : undefined} changed={changed} />
        </>
      )}
    </>
  );
}

/** Whether who looks may change the working memory of a robot. A key may act as one robot only. */
function useMayChange(name: string): boolean {
  const { robot } = useUser();
  return useMay("writer") && (robot === null || robot === name);
}

interface InMindProperties {
  working: models.Working;
  /** Undefined: who looks may not change it. */
  acts: Acts | undefined;
  changed: () => void;
}

function InMind({ working, acts, changed }: InMindProperties): JSX.Element {
  if (working.nodes.length === 0) {
    return (
      <Empty>
        <p>This working memory is empty.</p>
        <p class="small">
          A memory comes in when the robot remembers or recalls it{acts ? ", or when you add it above" : ""}.
        </p>
      </Empty>
    );
  }
  return (
    <section class="stack close" aria-label="In mind">
      <p class="small muted">
        In the order in which they leave: when something new does not fit, the least important memory leaves first; of equally important
        ones, the one that was added first. {!acts && "Your key does not let you change this working memory."}
      </p>
      <MindTable working={working} acts={acts} changed={changed} />
    </section>
  );
}

function Head({ robot, working, namespace, changed }: RobotProperties): JSX.Element {
  const [asked, setAsked] = useState<"budget" | "empty">();
  const may = useMayChange(robot.name);
  const close = (): void => setAsked(undefined);
  return (
    <div class="mind-head">
      <div class="stack close">
        <h2 class="stored">{robot.name}</h2>
        <p class="small muted row">
          <span>Robot</span>
          <span>{robot.last_active ? <>seen <Time at={robot.last_active} /></> : "never seen"}</span>
          <span>
            remembered <Link to={address("/", { robot: robot.name })}>{count(robot.nodes, "memory", "memories")}</Link>
          </span>
          {robot.groups.length > 0 && (
            <span>
              in{" "}
              {robot.groups.map((group, index) => (
                <>
                  {index > 0 && ", "}
                  <Link key={group} class="stored" to={toMind({ kind: "group", name: group })}>
                    {group}
                  </Link>
                </>
              ))}
            </span>
          )}
          <span>{typeof robot.max_tokens === "number" ? "a budget of its own" : "the server's default budget"}</span>
        </p>
      </div>
      {may && (
        <div class="row">
          <button type="button" class="button" onClick={() => setAsked("budget")}>
            Change the budget …
          </button>
          {working.nodes.length > 0 && (
            <button type="button" class="button danger" onClick={() => setAsked("empty")}>
              Empty it …
            </button>
          )}
        </div>
      )}
      {asked === "budget" && (
        <BudgetDialog
          namespace={namespace}
          robot={robot.name}
          working={working}
          isOwn={typeof robot.max_tokens === "number"}
          onClose={close}
          changed={changed}
        />
      )}
      {asked === "empty" && <EmptyDialog robot={robot} working={working} namespace={namespace} onClose={close} changed={changed} />}
    </div>
  );
}

function EmptyDialog({ robot, working, namespace, onClose, changed }: RobotProperties & { onClose: () => void }): JSX.Element {
  const act = async (): Promise<void> => {
    const { removed } = await htm.workingMemory.clear(robot.name, { namespace });
    changed();
    say(`${count(removed, "memory", "memories")} left the working memory.`);
  };
  return (
    <Confirm title="Empty the working memory" verb="Empty it" isDangerous act={act} onClose={onClose}>
      <p>
        <span class="stored">{robot.name}</span> has {count(working.nodes.length, "memory", "memories")} in working memory, and will have none. They stay
        in the long-term memory, but when they came in and how often they were used is lost.
      </p>
    </Confirm>
  );
}
