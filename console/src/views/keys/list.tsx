// The keys, with their making and revoking.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, Time, number } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { Heads, TableBox } from "../../components/table-box";
import { useHeld, useUser } from "../../components/sign-in";
import { say } from "../../components/toasts";
import { htm, useAnswer } from "../../server";
import { CreateKey, Created } from "./create";

type Open = { kind: "create" } | { kind: "revoke"; key: models.ApiKey } | undefined;

export function KeyList(): JSX.Element {
  const answer = useAnswer((signal) => htm.keys.list({ signal }), []);
  const [open, setOpen] = useState<Open>();
  const [isMaking, setMaking] = useState(false);
  const [created, setCreated] = useState<models.CreatedApiKey>();
  // The first key signs everybody out, and its text comes once.
  useHeld(isMaking || created !== undefined);
  const newKey = useRef<HTMLButtonElement>(null);
  const { key: own } = useUser();
  const maker = answer.value?.keys.find(({ id }) => id === own);
  const close = (): void => setOpen(undefined);
  const make = async (key: models.NewKey): Promise<void> => {
    setMaking(true);
    try {
      // Shown also if the form was closed meanwhile.
      setCreated(await htm.keys.create(key));
    } finally {
      setMaking(false);
    }
  };
  const read = (): void => {
    setCreated(undefined);
    // Not before: after the first key, the list asks for a key to sign in with.
    answer.reload();
  };
  const revoked = (): void => {
    close();
    // Its button is gone.
    newKey.current?.focus();
  };
  return (
    <>
      <p class="row">
        <button ref={newKey} type="button" class="button primary" onClick={() => setOpen({ kind: "create" })}>
          New key
        </button>
      </p>
      <Awaited answer={answer}>
        {({ keys }) => (keys.length === 0 ? <NoKeys /> : <Table keys={keys} revoke={(key) => setOpen({ kind: "revoke", key })} />)}
      </Awaited>
      {open?.kind === "create" && <CreateKey maker={maker} onClose={close} make={make} />}
      {created && <Created created={created} onClose={read} />}
      {open?.kind === "revoke" && (
        <Revoke apiKey={open.key} keys={answer.value?.keys ?? []} reload={answer.reload} onClose={close} onDone={revoked} />
      )}
    </>
  );
}

function NoKeys(): JSX.Element {
  return (
    <Empty>
      <p>There is no key: every program of this machine can use the server, and no other machine can.</p>
      <p>The first key closes it. From then on each request needs one, and this page asks for one too.</p>
    </Empty>
  );
}

function Table({ keys, revoke }: { keys: readonly models.ApiKey[]; revoke: (key: models.ApiKey) => void }): JSX.Element {
  return (
    <TableBox label="Keys">
      <Heads
        columns={[
          "Key",
          "Role",
          "Namespaces",
          "Robot",
          { number: "Requests a minute" },
          "Created",
          "Last used",
          "State",
          { hidden: "Actions" },
        ]}
      />
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              {key.name && <div class="stored">{key.name}</div>}
              <code>{key.id}</code>
            </td>
            <td>{key.role}</td>
            <td class="stored">{key.namespaces?.join(", ") ?? "all"}</td>
            <td class="stored">{key.robot ?? "any"}</td>
            <td class="number">{typeof key.requests_per_minute === "number" ? number(key.requests_per_minute) : "no limit"}</td>
            <td>
              <Time at={key.created_at} />
            </td>
            <td>{key.last_used_at ? <Time at={key.last_used_at} /> : "never"}</td>
            <td>
              <State apiKey={key} />
            </td>
            <td>
              {!key.revoked_at && (
                <button type="button" class="button danger" onClick={() => revoke(key)} aria-label={`Revoke key ${key.name ?? key.id}`}>
                  Revoke
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
}

function State({ apiKey }: { apiKey: models.ApiKey }): JSX.Element {
  if (apiKey.revoked_at) {
    return (
      <span class="state-bad">
        revoked <Time at={apiKey.revoked_at} />
      </span>
    );
  }
  if (!apiKey.expires_at) return <span class="state-good">valid</span>;
  const isOver = Date.parse(apiKey.expires_at) <= Date.now();
  return (
    <span class={isOver ? "state-bad" : "state-good"}>
      {isOver ? "expired" : "valid, expires"} <Time at={apiKey.expires_at} />
    </span>
  );
}

interface RevokeProperties {
  apiKey: models.ApiKey;
  keys: readonly models.ApiKey[];
  reload: () => void;
  onClose: () => void;
  onDone: () => void;
}

function Revoke({ apiKey, keys, reload, onClose, onDone }: RevokeProperties): JSX.Element {
  const name = apiKey.name ?? apiKey.id;
  const isOwn = useUser().key === apiKey.id;
  const isLast = isOfAll(apiKey) && !keys.some((other) => other.id !== apiKey.id && isOfAll(other));
  const act = async (): Promise<void> => {
    await htm.keys.revoke(apiKey.id);
    say(`The key ${name} is revoked.`);
    reload();
  };
  return (
    <Confirm title={`Revoke the key ${name}?`} verb="Revoke" isDangerous act={act} onClose={onClose} onDone={onDone}>
      {isOwn && <p class="notice warn">This is the key that you have signed in with: you will be signed out.</p>}
      {isLast && (
        <p class="notice warn">
          No other key may make keys. Whoever runs the server then makes one: <code>htm keys create --role admin</code>.
        </p>
      )}
      <p>Servers refuse it within a second, and whoever signed in with it is signed out. It cannot be undone.</p>
    </Confirm>
  );
}

/** Whether a key makes other ones. */
function isOfAll({ role, namespaces, revoked_at, expires_at }: models.ApiKey): boolean {
  return role === "admin" && !namespaces && !revoked_at && !(expires_at && Date.parse(expires_at) <= Date.now());
}
