// Who uses the console: anyone where the server needs no key, else who has signed in with one.

import type { ComponentChildren, JSX } from "preact";
import { createContext, type TargetedSubmitEvent } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { HtmError } from "htm-memory";
import type { models } from "htm-memory";
import { SIGNED_OUT, asError, useAnswer, usePolled, type Answer } from "../server";
import { Awaited, Problem, SaidUnreachable, Waiting } from "./basics";
import { Confirm } from "./dialog";
import { onTheWay } from "./on-the-way";
import { attempt, dismissAll } from "./toasts";

const PATH = "/console/sign-in";

// The server replaces the token of the cookie as it gets older.
const RENEWED_MS = 600_000;

export interface User {
  role: models.Role;
  /** The namespaces that it sees; null: all. */
  namespaces: string[] | null;
  /** The namespace where none is named. */
  namespace: string;
  /** The robot that it acts as; null: any. */
  robot: string | null;
  /** The id of the key; null: the server needs none. */
  key: string | null;
  name: string | null;
}

interface Signed {
  user: User;
  signOut: () => Promise<void>;
  /** Keeps what is shown, also if nobody is signed in any more. */
  hold: (isHeld: boolean) => void;
}

const Context = createContext<Signed | undefined>(undefined);

/** Who uses the console. */
export function useUser(): User {
  return useSigned().user;
}

/** Keeps the view while it shows what is shown once, also if nobody is signed in any more. */
export function useHeld(isHeld: boolean): void {
  const { hold } = useSigned();
  useLayoutEffect(() => {
    hold(isHeld);
    return () => hold(false);
  }, [isHeld]);
}

function useSigned(): Signed {
  const signed = useContext(Context);
  if (!signed) throw new Error("nobody is signed in around this view");
  return signed;
}

const ROLES: readonly models.Role[] = ["reader", "writer", "admin"];

/** Whether a role is enough for something. */
export function allows(role: models.Role, needed: models.Role = "reader"): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Whether the user's role is enough for something. What would fail is not offered. */
export function useMay(needed: models.Role): boolean {
  return allows(useUser().role, needed);
}

interface GateProperties {
  /** Drops what the page keeps of its user, besides what it shows. */
  drop: () => void;
  children: ComponentChildren;
}

/** What is in it, for who is signed in. */
export function Gate({ drop, children }: GateProperties): JSX.Element {
  const answer = useWho(drop);
  const [isHeld, hold] = useState(false);
  const kept = useRef(answer);
  // A held view stays after a refusal, which leaves the user's value. It does not stay for another user.
  if (!isHeld || answer.value?.key !== kept.current.value?.key) kept.current = answer;
  const shown = kept.current;
  const isSaid = shown.error !== undefined && onTheWay(shown.error)?.isPassing === true;
  const [isLeaving, setLeaving] = useState(false);
  const isSignedIn = answer.value !== undefined && !answer.error;
  useEffect(() => {
    // The form comes as soon as anything is refused.
    if (!isSignedIn) return undefined;
    addEventListener(SIGNED_OUT, answer.reload);
    return () => removeEventListener(SIGNED_OUT, answer.reload);
  }, [isSignedIn, answer.reload]);
  const signOut = async (): Promise<void> => {
    await ask("DELETE");
    setLeaving(true);
  };
  // Once nothing is shown any more: a form with a draft would ask whether to leave it.
  useEffect(() => {
    if (isLeaving) location.replace("/");
  }, [isLeaving]);
  if (isLeaving) return <Waiting />;
  if (shown.error && shown.error.status === 401) return <KeyForm signedIn={answer.reload} wasIn={(shown.error.code as string) === "signed_out"} />;
  return (
    <Awaited answer={shown} isPolled>
      {(user) =>
        user && (
          // What one user looks at is not shown to another.
          <Context.Provider key={user.key ?? ""} value={{ user, signOut, hold }}>
            <SaidUnreachable.Provider value={isSaid}>{children}</SaidUnreachable.Provider>
          </Context.Provider>
        )
      }
    </Awaited>
  );
}

/** Who is signed in. If it is another one than before, what is kept of the former one is dropped. */
function useWho(drop: () => void): Answer<User | null> {
  const former = useRef<User["key"]>(undefined);
  const answer = useAnswer(async (signal) => {
    const user = await ask("GET", { signal });
    if (user && former.current !== user.key) {
      drop();
      dismissAll();
      former.current = user.key;
    }
    return user;
  }, []);
  usePolled(answer, RENEWED_MS);
  useEffect(() => {
    // Somebody else may have signed in, in another tab.
    const look = (): void => {
      if (document.visibilityState === "visible") answer.reload();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [answer.reload]);
  return answer;
}

function KeyForm({ signedIn, wasIn }: { signedIn: () => void; wasIn: boolean }): JSX.Element {
  const [error, setError] = useState<HtmError>();
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get("key")).trim();
    try {
      await ask("POST", { body: JSON.stringify({ key }) });
      signedIn();
    } catch (failure) {
      setError(asError(failure));
    }
  };
  return (
    <main class="content">
      <form class="card stack sign-in" onSubmit={submit}>
        <h1>Sign in to HTM</h1>
        {wasIn && <p class="notice">You were signed out, or your key is no longer valid.</p>}
        <p>
          This server needs a key. Whoever runs it makes one: <code>htm keys create --role reader</code>.
        </p>
        <label class="field">
          <span>Key</span>
          <input class="input mono" name="key" type="password" autocomplete="off" required autofocus />
        </label>
        {error && <Problem error={error} />}
        <div class="row end">
          <button type="submit" class="button primary">
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}

interface SignOutProperties {
  /** Whether there is something that is lost by it. */
  hasUnsaved: () => boolean;
}

/** Who is signed in, with a button to sign out. */
export function SignOut({ hasUnsaved }: SignOutProperties): JSX.Element | null {
  const signed = useContext(Context);
  const [isAsked, setAsked] = useState(false);
  if (!signed || signed.user.key === null) return null;
  const { name, key, role } = signed.user;
  const leave = (): void => (hasUnsaved() ? setAsked(true) : void attempt(signed.signOut));
  return (
    <>
      <button type="button" class="button" onClick={leave} title={`Signed in as ${name ?? key}, ${role}`}>
        Sign out
      </button>
      {isAsked && (
        <Confirm title="Sign out without saving?" verb="Sign out" isDangerous act={signed.signOut} onClose={() => setAsked(false)}>
          <p>There are edits that are not saved. They are lost when you sign out.</p>
        </Confirm>
      )}
    </>
  );
}

/** Asks who is signed in, signs in, or signs out. */
async function ask(method: "GET" | "POST" | "DELETE", init: RequestInit = {}): Promise<User | null> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(PATH, { method, headers, ...init }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new HtmError("unreachable", "the server does not answer", { hint: "start it with `htm up`", cause });
  });
  if (answer.status === 204) return null;
  const said: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && said !== undefined) return said as User;
  const { code = "no_problem", detail = "", hint } = (said ?? {}) as { code?: string; detail?: string; hint?: string };
  throw new HtmError(code, detail, { hint, status: answer.ok ? undefined : answer.status });
}
