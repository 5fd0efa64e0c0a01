import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { NAMESPACE, fixture, ids, savedOf, withInMind } from "./minds.js";

interface Member {
  robot: string;
  role: string;
}

test("the members of a group and their roles change by click, and its working memory is handed over", async () => {
  const { api, sql } = fixture.server;
  const group = "/v1/groups/on-call";
  const memberships = new Map<string, string>();
  for (const robot of ["ann", "ben"]) {
    const joined = await api<{ membership: string }>(`${group}/members`, { namespace: NAMESPACE, robot, lease_ms: 3_600_000, max_tokens: 500 });
    memberships.set(robot, joined.membership);
  }
  const put = (robot: string, nodes: number[]): Promise<unknown> =>
    api(`${group}/members/${robot}/add`, { namespace: NAMESPACE, membership: memberships.get(robot), nodes });
  await put("ann", ids.slice(0, 3));
  await assert.rejects(put("ben", ids.slice(3, 4)), /group_member_passive/);

  const page = await fixture.page(`/console/working-memory?namespace=${NAMESPACE}`);
  await page.getByRole("region", { name: "Robots and groups" }).getByRole("link", { name: "on-call" }).click();
  await page.getByRole("heading", { level: 2, name: "on-call" }).waitFor();
  const usage = async (): Promise<void> => {
    const { tokens, max_tokens, nodes } = await api<{ tokens: number; max_tokens: number; nodes: number }>(`${group}?namespace=${NAMESPACE}`);
    await page.getByRole("img", { name: `${tokens} of ${max_tokens} tokens are used` }).waitFor();
    await page.getByText(`${nodes} memories shared · ${max_tokens - tokens} tokens free`).waitFor();
  };
  const member = (robot: string): Locator => page.getByRole("row", { name: new RegExp(`^${robot} `) });
  const roles = async (expected: Record<string, string>): Promise<void> => {
    for (const [robot, role] of Object.entries(expected)) await member(robot).getByRole("cell", { name: role, exact: true }).waitFor();
    const { members } = await api<{ members: Member[] }>(`${group}?namespace=${NAMESPACE}`);
    assert.deepEqual(Object.fromEntries(members.map(({ robot, role }) => [robot, role === "active" ? "Active" : "Passive"])), expected);
    const saved = await sql(`
      select r.name || ' ' || initcap(m.role) from htm.group_members m join htm.robots r on r.id = m.robot_id
        join htm.robot_groups g on g.id = m.group_id where g.name = 'on-call' order by r.name`);
    assert.deepEqual(saved, Object.entries(expected).map((entry) => entry.join(" ")).sort());
  };
  const act = async (robot: string, button: string, title: string, verb: string): Promise<void> => {
    await member(robot).getByRole("button", { name: button }).click();
    await page.getByRole("dialog", { name: title }).getByRole("button", { name: verb }).click();
  };
  await usage();
  await roles({ ann: "Active", ben: "Passive" });

  // What a member brings is seen without a click.
  await put("ann", ids.slice(3, 4));
  await usage();
  await member("ben").getByText("2 changes behind").waitFor();

  await act("ben", "Make active …", "Make a member active", "Make it active");
  await roles({ ann: "Active", ben: "Active" });
  await put("ben", ids.slice(4, 5));
  await usage();
  await act("ann", "Make passive …", "Make a member passive", "Make it passive");
  await roles({ ann: "Passive", ben: "Active" });
  await assert.rejects(put("ann", ids.slice(5, 6)), /group_member_passive/);
  // The only active member gives its role away.
  await act("ben", "Remove …", "Remove a member", "Remove it");
  await roles({ ann: "Active" });
  await act("ann", "Make passive …", "Make a member passive", "Make it passive");
  await page.getByRole("dialog").getByText("group_last_active").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await roles({ ann: "Active" });

  await page.getByRole("button", { name: "Hand over …" }).click();
  const transfer = page.getByRole("dialog", { name: "Hand over the working memory" });
  await transfer.getByLabel("Its name").fill("kim");
  await withInMind("kim", [], 500);
  await transfer.getByRole("button", { name: "Hand it over" }).click();
  await page.getByText("5 memories moved to kim.").waitFor();
  assert.deepEqual(await savedOf("kim"), ids.slice(0, 5));
  await usage();

  await page.getByRole("button", { name: "Shut down …" }).click();
  await page.getByRole("dialog", { name: "Shut down the group" }).getByRole("button", { name: "Shut it down" }).click();
  await page.getByText("This group has no members.").waitFor();
  assert.deepEqual(await sql("select closed_at is null from htm.robot_groups where name = 'on-call'"), ["f"]);
  await page.context().close();
});

test("nothing serious is found by axe on the page of a group, at any width", async () => {
  for (const robot of ["ann", "ben"]) await fixture.server.api("/v1/groups/night-shift/members", { namespace: NAMESPACE, robot });
  const path = `/console/working-memory?namespace=${NAMESPACE}&group=night-shift`;
  await fixture.checkAccess(path, (page) => page.getByRole("table", { name: "Members of the group" }).waitFor());
});
