// The tags as a file: out of here, and in again elsewhere.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { attempt, say } from "../../components/toasts";
import { htm } from "../../server";
import type { Asked } from "./changes";
import { useHere } from "./here";

export function Exchange(): JSX.Element {
  const { ask } = useHere();
  return (
    <section class="stack" aria-labelledby="exchange-head">
      <h2 id="exchange-head">Export and import</h2>
      <div class="columns">
        <Export />
        {ask && <Import ask={ask} />}
      </div>
    </section>
  );
}

function Export(): JSX.Element {
  const { namespace } = useHere();
  const [isReading, setReading] = useState(false);
  const download = async (): Promise<void> => {
    setReading(true);
    await attempt(async () => {
      const document = await htm.tags.export({ namespace });
      const name = `tags-${(namespace ?? "own").replace(/[^\w-]+/g, "-")}.json`;
      save(JSON.stringify(document, null, 2), name);
      say(`${name} saved`);
    });
    setReading(false);
  };
  return (
    <div class="card stack">
      <h3>Export</h3>
      <p>All tags with their descriptions and other names, as a JSON file. Memories are not in it.</p>
      <p>
        <button type="button" class="button" disabled={isReading} onClick={download}>
          Save the tags as a file
        </button>
      </p>
    </div>
  );
}

function save(text: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const MEGABYTES = 15;

function Import({ ask }: { ask: (asked: Asked) => void }): JSX.Element {
  const [problem, setProblem] = useState("");
  const open = async (file: File): Promise<void> => {
    if (file.size > MEGABYTES * 1_000_000) {
      setProblem(`${file.name} is too large: more than ${MEGABYTES} MB.`);
      return;
    }
    const document = documentIn(await file.text());
    if (!document) {
      const yaml = "A YAML file is imported with “htm tags import”.";
      setProblem(`${file.name} has no tags as the export writes them. ${yaml}`);
      return;
    }
    setProblem("");
    ask({ act: "import", document, source: file.name });
  };
  return (
    <div class="card stack">
      <h3>Import</h3>
      <p>Adds the tags of a file that was exported. First you see what would change.</p>
      <label class="field">
        <span>File (JSON)</span>
        <input
          class="input tag-file"
          type="file"
          accept=".json,application/json"
          onChange={(event) => {
            const input = event.currentTarget;
            const [file] = input.files ?? [];
            // The same file can be chosen again.
            if (file) void open(file).then(() => (input.value = ""));
          }}
        />
      </label>
      {problem && (
        <p class="notice bad stored" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function documentIn(text: string): models.OntologyDocument | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isDocument(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it looks like a document. The server checks the rest. */
function isDocument(read: unknown): read is models.OntologyDocument {
  if (typeof read !== "object" || read === null || !("version" in read) || !("tags" in read)) return false;
  const { version, tags } = read;
  const isTag = (it: unknown): boolean =>
    typeof it === "object" && it !== null && "tag" in it && typeof it.tag === "string";
  return typeof version === "number" && Array.isArray(tags) && tags.every(isTag);
}
