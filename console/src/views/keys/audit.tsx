// The audit log: who did what.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, ShowMore, Time } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { attempt } from "../../components/toasts";
import { htm, useAnswer } from "../../server";
import { Details } from "./audit-details";

const PAGE = 100;

export function AuditLog(): JSX.Element {
  const answer = useAnswer((signal) => htm.keys.audit({ limit: PAGE }, { signal }), []);
  const [more, setMore] = useState<models.AuditLog[]>([]);
  useEffect(() => setMore([]), [answer.value]);
  return (
    <Awaited answer={answer}>
      {(first) => {
        const entries = [first, ...more].flatMap((page) => page.entries);
        const next = (more.at(-1) ?? first).next;
        const show = async (): Promise<void> => {
          const page = await htm.keys.audit({ limit: PAGE, cursor: next });
          setMore((more) => [...more, page]);
        };
        return entries.length === 0 ? (
          <Empty>
            <p>Nothing yet. Changes of keys, quotas, tags and policies, and what is erased, come here.</p>
          </Empty>
        ) : (
          <>
            <Table entries={entries} />
            {next && (
              <ShowMore act={() => void attempt(show)} />
            )}
          </>
        );
      }}
    </Awaited>
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
