// The audit log: who did what.

import type { JSX } from "preact";
import type { models } from "htm-memory";
import { Time } from "../../components/basics";
import { PagedList } from "../../components/paged-list";
import { Heads, TableBox } from "../../components/table-box";
import { htm, usePaged } from "../../server";
import { Details } from "./audit-details";

const PAGE = 100;

export function AuditLog(): JSX.Element {
  const list = usePaged(async (cursor: string | undefined, signal) => {
    const { entries, next } = await htm.keys.audit({ limit: PAGE, cursor }, { signal });
    return { items: entries, next };
  }, []);
  return (
    <PagedList list={list} none="Nothing yet. Changes of keys, quotas, tags and policies, and what is erased, come here.">
      {(entries) => <Table entries={entries} />}
    </PagedList>
  );
}

function Table({ entries }: { entries: readonly models.AuditEntry[] }): JSX.Element {
  return (
    <TableBox label="Audit log">
      <Heads columns={["When", "Who", "Did", "To", "Namespace", "Details"]} />
      <tbody>
        {entries.map((entry, index) => (
          <tr key={index}>
            <td>
              <Time at={entry.at} />
            </td>
            <td class="stored">{entry.actor}</td>
            <td>
              <code>{entry.action}</code>
            </td>
            <td class="stored">{entry.subject ?? "–"}</td>
            <td class="stored">{entry.namespace ?? "all"}</td>
            <td class="stored small">
              <Details of={entry.details} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
}
