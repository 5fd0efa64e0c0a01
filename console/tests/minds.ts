// A server with working memories of robots and groups.

import type { Locator, Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { startEmptyServer, until, type Server } from "./server.js";

export const NAMESPACE = "fleet";

export const fixture = startedFixture(serve, fill);

function serve(): Promise<Server> {
  return startEmptyServer("embedding.provider=fake", "tag.provider=fake");
}

// The numbers of the memories, in the order in which they were remembered.
export const ids: number[] = [];

async function fill({ api }: Server): Promise<void> {
  const importances = [3, 9, 5, 3, 7, 5, 2, 8];
  for (const [index, importance] of importances.entries()) {
    const content = `Van ${index} was washed at depot ${index % 3}${" and driven to the next lane".repeat(index % 4)}.`;
    const { node } = await api<{ node: number }>("/v1/memories", { content, namespace: NAMESPACE, robot: "ada", importance });
    ids.push(node);
  }
  const isDone = async (): Promise<boolean> =>
    (await api<{ queue: string; done: number }[]>("/v1/queues"))
      .every(({ queue, done }) => queue === "htm.learn" || done === ids.length);
  await until(isDone, 60_000, () => "the workers did not process the memories");
}

interface Entry {
  node: number;
  tokens: number;
  importance: number;
  content: string;
}

export interface Working {
  nodes: Entry[];
  stats: { tokens: number; max_tokens: number; nodes: number };
}

export function workingOf(robot: string): Promise<Working> {
  return fixture.server.api(`/v1/robots/${robot}/working-memory?namespace=${NAMESPACE}`);
}

/** A robot with these memories in its working memory, which came in one after another. */
export async function withInMind(robot: string, nodes: readonly number[], max_tokens: number): Promise<void> {
  await fixture.server.api("/v1/robots", { name: robot, namespace: NAMESPACE });
  await fixture.server.api(`/v1/robots/${robot}`, { namespace: NAMESPACE, max_tokens }, "PATCH");
  for (const node of nodes) {
    await fixture.server.api(`/v1/robots/${robot}/working-memory`, { namespace: NAMESPACE, nodes: [node] });
  }
}

/** What the database has of a robot's working memory. */
export async function savedOf(robot: string): Promise<number[]> {
  const rows = await fixture.server.sql(`
    select w.node_id from htm.working_memory w join htm.robots r on r.id = w.robot_id
     where r.namespace = '${NAMESPACE}' and r.name = '${robot}' order by w.node_id`);
  return rows.map(Number);
}

export function pageOf(robot: string, parameters = "", options = {}): Promise<Page> {
  return fixture.page(`/console/working-memory?namespace=${NAMESPACE}&robot=${robot}${parameters}`, options);
}

/** The numbers of memories that links name, in their order. */
export async function named(links: Locator): Promise<number[]> {
  return (await links.allInnerTexts()).map((text) => Number(/\d+$/.exec(text)?.[0]));
}
