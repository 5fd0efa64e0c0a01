// Keys: who may use the server, and what was done.

import type { JSX } from "preact";
import { Link, address, usePlace } from "../router";
import { AuditLog } from "./keys/audit";
import { KeyList } from "./keys/list";

const TABS = [
  { name: "Keys", tab: null, show: KeyList },
  { name: "Audit log", tab: "audit", show: AuditLog },
] as const;

export function Keys(): JSX.Element {
  const tab = usePlace().query.get("tab");
  const shown = TABS.find((it) => it.tab === tab) ?? TABS[0];
  return (
    <div class="stack">
      <h1>{shown.name}</h1>
      <nav class="tabs" aria-label="Keys and audit log">
        {TABS.map(({ name, tab }) => (
          <Link key={name} to={address("/console/keys", { tab })} aria-current={tab === shown.tab ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      <shown.show />
    </div>
  );
}
