// A group: robots that share a working memory, and who of them is there.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Bar, Empty, Time, count, number } from "../../components/basics";
import { useMay } from "../../components/sign-in";
import { useNamespace } from "../../router";
import { htm, useAnswer, usePolled } from "../../server";
import { useTitle } from "../../components/title";
import { ShutDownDialog, TransferDialog } from "./group-dialogs";
import { Members } from "./members";
import { percent } from "./mind-list";

const WATCHED_MS = 3_000;

interface Properties {
  name: string;
  changed: () => void;
}

export function GroupPage({ name, changed }: Properties): JSX.Element {
  const namespace = useNamespace();
  const answer = useAnswer(
    async (signal) => {
      const at = Date.now();
      return { group: await htm.groups.get(name, { namespace }, { signal }), at };
    },
    [namespace, name],
  );
  usePolled(answer, WATCHED_MS);
  useTitle(`${name} · Working memory`);
  const reload = (): void => {
    answer.reload();
    changed();
  };
  if (answer.error?.code === "group_unknown") {
    return (
      <Empty>
        <h2 class="stored">{name}</h2>
        <p>There is no group of this name in {namespace ?? "this namespace"}. A group is made when the first robot joins it.</p>
      </Empty>
    );
  }
  return <Awaited answer={answer} isPolled>{(read) => <Group {...read} namespace={namespace} changed={reload} />}</Awaited>;
}

interface GroupProperties {
  group: models.GroupInfo;
  /** When it was asked for. */
  at: number;
  namespace: string | undefined;
  changed: () => void;
}

function Group({ group, at, namespace, changed }: GroupProperties): JSX.Element {
  const { members, closed_at } = group;
  return (
    <>
      <Head group={group} namespace={namespace} changed={changed} />
      {closed_at && (
        <p class="notice small">
          This group was shut down <Time at={closed_at} />: nobody is a member. A robot that joins it opens it again
          {group.nodes > 0 && ", with what is in its working memory"}.
        </p>
      )}
      <div class="card">
        <Use group={group} />
      </div>
      <section class="stack close" aria-labelledby="members-title">
        <h3 id="members-title">
          Members <span class="number muted">{number(members.length)}</span>
        </h3>
        {members.length === 0 ? (
          <Empty>
            <p>This group has no members.</p>
          </Empty>
        ) : (
          <>
            <p class="small muted">
              Active members write to the shared working memory. Passive ones follow, and one of them takes over when no active member is
              there. A member is there as long as it gives a sign of life (a heartbeat) within its lease.
            </p>
            <Members group={group} at={at} namespace={namespace} changed={changed} />
          </>
        )}
      </section>
    </>
  );
}

function Use({ group: { tokens, max_tokens, nodes } }: { group: models.GroupInfo }): JSX.Element {
  const usage = `${number(tokens)} of ${count(max_tokens, "token")}`;
  return (
    <div class="stack close mind-use">
      <p class="row use">
        <strong class="number">{usage}</strong>
        <span class="muted">
          {percent(tokens / Math.max(1, max_tokens))} full · {count(nodes, "memory", "memories")} shared ·{" "}
          {count(Math.max(0, max_tokens - tokens), "token")} free
        </span>
      </p>
      <Bar label={`${usage} are used`} whole={max_tokens} parts={[{ name: "used", value: tokens, series: 1 }]} />
      <p class="small muted">
        Which memories these are, the server tells only to the members of the group. The page of a memory says which groups have it.
        The first member that joined has set the budget; it cannot be changed.
      </p>
    </div>
  );
}

function Head({ group, namespace, changed }: Omit<GroupProperties, "at">): JSX.Element {
  const [asked, setAsked] = useState<"transfer" | "shutdown">();
  const isAdmin = useMay("admin");
  const close = (): void => setAsked(undefined);
  const { name, members, version, created_at, closed_at } = group;
  return (
    <div class="mind-head">
      <div class="stack close">
        <h2 class="stored">{name}</h2>
        <p class="small muted row">
          <span>Group</span>
          <span>
            made <Time at={created_at} />
          </span>
          {!closed_at && (
            <span>
              {members.filter(({ alive }) => alive).length} of {count(members.length, "member")} there
            </span>
          )}
          <span>{version === 0 ? "never changed" : `changed ${count(version, "time")}`}</span>
        </p>
      </div>
      {isAdmin && (
        <div class="row">
          {group.nodes > 0 && (
            <button type="button" class="button" onClick={() => setAsked("transfer")}>
              Hand over …
            </button>
          )}
          {!closed_at && (
            <button type="button" class="button danger" onClick={() => setAsked("shutdown")}>
              Shut down …
            </button>
          )}
        </div>
      )}
      {asked === "transfer" && <TransferDialog group={group} namespace={namespace} onClose={close} changed={changed} />}
      {asked === "shutdown" && <ShutDownDialog group={group} namespace={namespace} onClose={close} changed={changed} />}
    </div>
  );
}
