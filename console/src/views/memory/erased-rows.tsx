// What an erasure removes, by kind.

import type { JSX } from "preact";
import { number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";

const NAMES: Readonly<Record<string, string>> = {
  "htm.nodes": "The memory with its facts",
  "htm.node_revisions": "Former texts",
  "htm.node_absences": "Records of when it was forgotten",
  "htm.relations": "Relations to other memories",
  "htm.recalls": "Recalls that nobody judged",
  "htm.recall_candidates": "Places in judged recalls",
  "htm.feedback": "Feedback on recalls",
  "htm.documents": "Documents without a passage",
  "htm.node_tags": "Tags on it",
  "htm.tags": "Tags that no other memory has",
  "htm.repeats": "Records of who remembered it again",
  "htm.node_accesses": "Counts of its use",
  "htm.completions": "Records of finished processing",
  "htm.working_memory": "Places in working memories of robots",
  "htm.group_memory": "Places in working memories of groups",
  "htm.operations": "Answers that were kept for retries",
  "htm.tag_change_nodes": "Entries of the log of tags",
  "htm.tag_change_names": "Names in the log of tags",
  "apalis.jobs": "Jobs",
};

function nameOf(table: string): string | undefined {
  return table.startsWith("htm.embeddings_") ? "Vectors of its meaning" : NAMES[table];
}

/** The number of rows by table, in words where there are some. */
export function ErasedRows({ removed }: { removed: Record<string, number> }): JSX.Element {
  return (
    <div class="memory-table small">
      <TableBox label="Rows by table">
        <Heads columns={["What", "Table", { number: "Rows" }]} />
        <tbody>
          {Object.entries(removed).map(([table, rows]) => (
            <tr key={table}>
              <td>{nameOf(table) ?? "Other traces"}</td>
              <td>
                <code>{table}</code>
              </td>
              <td class="number">{number(rows)}</td>
            </tr>
          ))}
        </tbody>
      </TableBox>
    </div>
  );
}
