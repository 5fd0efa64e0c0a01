// The robots and groups of a namespace, as the list shows them.

import type { models } from "htm-memory";
import { htm, useAnswer, type Answer } from "../../server";
import type { Chosen } from "./places";

export interface Mind extends Chosen {
  memories: number;
  tokens: number;
  /** The budget; undefined: the server's default, which could not be read. */
  maxTokens: number | undefined;
  /** When it was last seen, in milliseconds. */
  seenAt: number | undefined;
  /** The members of a group, and how many of them are there. */
  members?: { all: number; there: number };
  isShutDown?: boolean;
}

export interface Minds {
  robots: Mind[];
  groups: Mind[];
  /** Whether there are more robots. */
  isCut: boolean;
}

// Few pages need more. The server gives no more than the second number at once.
const FIRST = 1_000;
export const MOST = 10_000;

/** The robots and groups. While somebody searches, as many as can be had. */
export function useMinds(namespace: string | undefined, version: number, isSearching: boolean): Answer<Minds> {
  const limit = isSearching ? MOST : FIRST;
  return useAnswer(
    async (signal) => {
      const [page, groups] = await Promise.all([
        htm.robots.list({ namespace, limit }, { signal }),
        htm.groups.list({ namespace }, { signal }),
      ]);
      const own = await defaultBudget(page.robots, namespace, signal);
      return { robots: page.robots.map((robot) => ofRobot(robot, own)), groups: groups.map(ofGroup), isCut: Boolean(page.next) };
    },
    [namespace, version, limit],
  );
}

/**
 * The budget of robots that have none of their own. No answer has it but that of such a robot: the one with the least in
 * mind is read.
 */
async function defaultBudget(
  robots: readonly models.RobotStatistics[],
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  const without = robots.filter((robot) => typeof robot.max_tokens !== "number");
  const first = without.reduce<models.RobotStatistics | undefined>(
    (least, robot) => (least && least.in_working_memory <= robot.in_working_memory ? least : robot),
    undefined,
  );
  if (!first) return undefined;
  const { stats } = await htm.workingMemory.get(first.name, { namespace }, { signal });
  return stats.max_tokens;
}

function ofRobot(robot: models.RobotStatistics, defaultTokens: number | undefined): Mind {
  return {
    kind: "robot",
    name: robot.name,
    memories: robot.in_working_memory,
    tokens: robot.working_memory_tokens,
    maxTokens: robot.max_tokens ?? defaultTokens,
    seenAt: robot.last_active ? Date.parse(robot.last_active) : undefined,
  };
}

function ofGroup(group: models.GroupInfo): Mind {
  const { members } = group;
  const unseen = Math.min(...members.map(({ unseen_ms }) => unseen_ms));
  return {
    kind: "group",
    name: group.name,
    memories: group.nodes,
    tokens: group.tokens,
    maxTokens: group.max_tokens,
    seenAt: Number.isFinite(unseen) ? Date.now() - unseen : undefined,
    members: { all: members.length, there: members.filter(({ alive }) => alive).length },
    isShutDown: Boolean(group.closed_at),
  };
}

export const SORTS = ["seen", "full", "name"] as const;
export type Sort = (typeof SORTS)[number];

/** Those whose name has a text, in an order. */
export function found(minds: readonly Mind[], text: string, sort: Sort): Mind[] {
  const wanted = text.trim().toLocaleLowerCase();
  const matching = minds.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  if (sort === "name") return matching;
  const value = (mind: Mind): number => (sort === "seen" ? (mind.seenAt ?? 0) : mind.tokens / Math.max(1, mind.maxTokens ?? Infinity));
  // Those with the same value stay in the order of their names.
  return matching.sort((a, b) => value(b) - value(a));
}
