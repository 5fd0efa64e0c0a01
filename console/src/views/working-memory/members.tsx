// The members of a group: their roles, whether they are there, and what an admin can do with them.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { ShowMore, Time, count, duration } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { useMay } from "../../components/sign-in";
import { Heads, TableBox } from "../../components/table-box";
import { say } from "../../components/toasts";
import { Link } from "../../router";
import { htm } from "../../server";
import { toMind } from "./places";

const SHOWN = 100;

type Act = "promote" | "demote" | "remove";

interface Properties {
  group: models.GroupInfo;
  /** When it was asked for. */
  at: number;
  namespace: string | undefined;
  changed: () => void;
}

export function Members({ group, at, namespace, changed }: Properties): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  const [asked, setAsked] = useState<{ act: Act; member: models.GroupMemberInfo }>();
  const isAdmin = useMay("admin");
  return (
    <>
      <TableBox label="Members">
        <caption class="hidden-label">Members of the group</caption>
        <Heads columns={["Robot", "Role", "Is it there?", "Last heartbeat", "Up to date?", "Joined"]} />
        <tbody>
          {group.members.slice(0, shown).map((member) => (
            <Row
              key={member.robot}
              member={member}
              version={group.version}
              at={at}
              ask={isAdmin ? (act) => setAsked({ act, member }) : undefined}
            />
          ))}
        </tbody>
      </TableBox>
      {group.members.length > shown && (
        <ShowMore act={() => setShown(shown + SHOWN)} />
      )}
      {!isAdmin && <p class="small muted">Only admins change the members of a group.</p>}
      {asked && <ActDialog {...asked} group={group} namespace={namespace} onClose={() => setAsked(undefined)} changed={changed} />}
    </>
  );
}

interface RowProperties {
  member: models.GroupMemberInfo;
  version: number;
  at: number;
  ask: ((act: Act) => void) | undefined;
}

function Row({ member, version, at, ask }: RowProperties): JSX.Element {
  const { robot, role, alive, unseen_ms, lease_ms, seen_version, joined_at } = member;
  const behind = version - seen_version;
  return (
    <tr>
      <td class="mind-name">
        <Link class="stored" to={toMind({ kind: "robot", name: robot })}>
          {robot}
        </Link>
        {ask && <MemberActs member={member} ask={ask} />}
      </td>
      <td>{role === "active" ? <strong>Active</strong> : "Passive"}</td>
      <td class="nowrap">{alive ? <span class="state-good">There</span> : <span class="state-bad">Lost</span>}</td>
      <td class="nowrap">
        {duration(unseen_ms + Date.now() - at)} ago
        <p class="small muted">lease {duration(lease_ms)}</p>
      </td>
      <td>
        {behind <= 0 ? "Yes" : `${count(behind, "change")} behind`}
        {behind > 0 && <p class="small muted">at its last heartbeat</p>}
      </td>
      <td class="nowrap">
        <Time at={joined_at} />
      </td>
    </tr>
  );
}

function MemberActs({ member: { robot, role, alive }, ask }: { member: models.GroupMemberInfo; ask: (act: Act) => void }): JSX.Element {
  return (
    <div class="row mind-acts">
      {role === "active" ? (
        <button type="button" class="button" onClick={() => ask("demote")}>
          Make passive …<span class="hidden-label"> {robot}</span>
        </button>
      ) : (
        alive && (
          <button type="button" class="button" onClick={() => ask("promote")}>
            Make active …<span class="hidden-label"> {robot}</span>
          </button>
        )
      )}
      <button type="button" class="button danger" onClick={() => ask("remove")}>
        Remove …<span class="hidden-label"> {robot}</span>
      </button>
    </div>
  );
}

const WORDS: Record<Act, { title: string; verb: string; done: string; text: string }> = {
  promote: {
    title: "Make a member active",
    verb: "Make it active",
    done: "is active now",
    text: "It may then write to the shared working memory. Active members that are lost become passive.",
  },
  demote: {
    title: "Make a member passive",
    verb: "Make it passive",
    done: "is passive now",
    text:
      "It may then not write to the shared working memory. If it was the only active member, the passive one that joined first and is " +
      "there takes over; if there is none, the server refuses.",
  },
  remove: {
    title: "Remove a member",
    verb: "Remove it",
    done: "is no member any more",
    text:
      "A program that works as this robot is told so, and has to join again. If it was the only active member, the passive one that " +
      "joined first takes over. What it has brought stays in the shared working memory.",
  },
};

interface ActProperties extends Omit<Properties, "at"> {
  act: Act;
  member: models.GroupMemberInfo;
  onClose: () => void;
}

function ActDialog({ act, member: { robot }, group, namespace, onClose, changed }: ActProperties): JSX.Element {
  const { title, verb, done, text } = WORDS[act];
  const doIt = async (): Promise<void> => {
    await htm.groups[act](group.name, { namespace, robot });
    changed();
    say(`${robot} ${done}.`);
  };
  return (
    <Confirm title={title} verb={verb} isDangerous={act === "remove"} act={doIt} onClose={onClose}>
      <p>
        <strong class="stored">{robot}</strong> of the group <strong class="stored">{group.name}</strong>
      </p>
      <p>{text}</p>
    </Confirm>
  );
}
