// A new key. Its text is shown once.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { copy } from "../../components/clipboard";
import { Confirm, Dialog } from "../../components/dialog";
import { useUser } from "../../components/sign-in";

const ROLES: readonly { role: models.Role; may: string }[] = [
  { role: "reader", may: "search and read" },
  { role: "writer", may: "also remember, edit and forget" },
  { role: "admin", may: "also change tags, jobs, keys, and erase" },
];

const DAY = 86_400;
const MOST_REQUESTS = 2 ** 31 - 1;
const PROPOSED_DAYS = 90;
const MOST_DAYS = 36_500;
// The request takes its time, and the clock of the browser may be slow.
const SLACK_SECONDS = 60;
// Commas alone name nothing, which would be all namespaces.
const SOME_NAME = String.raw`\s*|.*[^\s,].*`;

interface Properties {
  /** The key that makes it; none: the server needs none, or it is not known. */
  maker: models.ApiKey | undefined;
  onClose: () => void;
  make: (key: models.NewKey) => Promise<void>;
}

export function CreateKey({ maker, onClose, make }: Properties): JSX.Element {
  // Where no key is needed yet, the first one shuts out who has none.
  const isFirst = useUser().key === null;
  const [role, setRole] = useState<models.Role>(isFirst ? "admin" : "reader");
  const [name, setName] = useState("");
  const [namespaces, setNamespaces] = useState("");
  const [robot, setRobot] = useState("");
  const [typedDays, setDays] = useState<string>();
  const [rate, setRate] = useState("");
  // No key outlives the one that makes it.
  const mostDays = Math.min(MOST_DAYS, Math.floor(secondsOf(maker) / DAY));
  const days = typedDays ?? (isFirst || mostDays < PROPOSED_DAYS ? "" : String(PROPOSED_DAYS));
  const names = namespaces.split(",").map((name) => name.trim()).filter(Boolean);
  const create = async (): Promise<void> => {
    await make({
      role,
      name: name.trim() || null,
      namespaces: names.length > 0 ? names : null,
      robot: robot.trim() || null,
      expires_in_seconds: days ? Math.round(Number(days) * DAY) : maker?.expires_at ? secondsOf(maker) : null,
      requests_per_minute: rate ? Number(rate) : null,
    });
  };
  return (
    <Confirm title="New key" verb="Create" act={create} onClose={onClose}>
      <label class="field">
        <span>Name, for people</span>
        <input class="input" value={name} maxLength={128} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <fieldset class="field roles">
        <legend>Role</legend>
        {ROLES.map(({ role: each, may }) => (
          <label key={each} class="row">
            <input type="radio" name="role" checked={role === each} onChange={() => setRole(each)} />
            <strong>{each}</strong> <span class="muted">may {may}</span>
          </label>
        ))}
      </fieldset>
      {isFirst && (role !== "admin" || names.length > 0 || robot.trim() !== "") && (
        <p class="notice warn" role="status">
          After the first key, every request needs a key, and this key cannot create others. The operator can:{" "}
          <code>htm keys create --role admin</code>.
        </p>
      )}
      <label class="field">
        <span>Namespaces, separated by commas; none: all. tenant-7/* are all below tenant-7</span>
        <input
          class="input"
          value={namespaces}
          pattern={SOME_NAME}
          title="Name a namespace, or leave it empty for all"
          onInput={(event) => setNamespaces(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Robot of its requests; none: each request names its own</span>
        <input class="input" value={robot} onInput={(event) => setRobot(event.currentTarget.value)} />
      </label>
      <div class="columns">
        <label class="field">
          <span>
            Days until it expires; none: {maker?.expires_at ? `with your key, ${new Date(maker.expires_at).toLocaleString()}` : "never"}
          </span>
          <input class="input" type="number" min="1" max={mostDays} value={days} onInput={(event) => setDays(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Requests a minute; none: no limit</span>
          <input class="input" type="number" min="1" max={MOST_REQUESTS} value={rate} onInput={(event) => setRate(event.currentTarget.value)} />
        </label>
      </div>
    </Confirm>
  );
}

/** How long a new key may be valid; without end if the one that makes it never expires. */
function secondsOf(maker: models.ApiKey | undefined): number {
  if (!maker?.expires_at) return Infinity;
  return Math.max(1, Math.floor((Date.parse(maker.expires_at) - Date.now()) / 1_000) - SLACK_SECONDS);
}

export function Created({ created, onClose }: { created: models.CreatedApiKey; onClose: () => void }): JSX.Element {
  return (
    <Dialog title="The key" onClose={onClose} isKept>
      <p class="notice warn">It is shown this once. The server keeps its hash only.</p>
      <label class="field">
        <span>Key</span>
        <input class="input mono" readOnly value={created.secret} onFocus={(event) => event.currentTarget.select()} />
      </label>
      <div class="row end">
        <button type="button" class="button" onClick={() => void copy(created.secret, "The key")}>
          Copy
        </button>
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
