// Addresses: each view has a path, and its state is in the query, so that an address can be shared.

import { h, type AnchorHTMLAttributes, type JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const CHANGED = "console:moved";

// Servers and proxies refuse longer ones, of which the question is the long part. The browser's history has them whole.
const LONGEST = 8_000;
const LONG_PART = "q";

export interface Place {
  path: string;
  query: URLSearchParams;
}

/** The place of the page. */
export function usePlace(): Place {
  // Not by preact/compat: once that is loaded, text fields tell each letter as if it were entered.
  const [address, setAddress] = useState(addressNow);
  useLayoutEffect(() => {
    const look = (): void => setAddress(addressNow());
    // It may have changed since this was drawn.
    look();
    return listen(look);
  }, []);
  const [path = "/"] = address.split("?");
  return { path, query: queryOf(address) };
}

function addressNow(): string {
  return whole(history.state) ?? location.pathname + location.search;
}

/** The query of the place, for what is done after it was drawn. */
export function queryNow(): URLSearchParams {
  return queryOf(addressNow());
}

function queryOf(address: string): URLSearchParams {
  return new URLSearchParams(address.split("?")[1]);
}

/** The address of an entry of the history that is too long for the browser's own address. */
function whole(state: unknown): string | undefined {
  const address = typeof state === "object" && state !== null && "address" in state ? state.address : undefined;
  return typeof address === "string" ? address : undefined;
}

/** What a server reads of an address. */
function shortened(address: string): string {
  const [path = "/"] = address.split("?");
  const query = queryOf(address);
  query.delete(LONG_PART);
  return joined(path, query);
}

function joined(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

function listen(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener(CHANGED, changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener(CHANGED, changed);
  };
}

/** Goes to an address. `replace`: the former one is not kept in the history, as when somebody types. */
export function go(address: string, { replace = false } = {}): void {
  if (address === addressNow()) return;
  const isLong = address.length > LONGEST;
  const [state, shown] = isLong ? [{ address }, shortened(address)] : [null, address];
  history[replace ? "replaceState" : "pushState"](state, "", shown);
  dispatchEvent(new Event(CHANGED));
}

type Query = Record<string, string | number | readonly string[] | null | undefined | false>;

/** The namespace that is looked at; none: the server's own. */
export function useNamespace(): string | undefined {
  return usePlace().query.get("namespace") ?? undefined;
}

/** An address with a query. What is empty is left out. The namespace stays, unless the query has another one. */
export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  const namespace = queryNow().get("namespace");
  for (const [name, value] of Object.entries({ namespace, ...query })) {
    const items = Array.isArray(value) ? value : [value];
    for (const item of items) {
      if (item !== null && item !== undefined && item !== false && item !== "") search.append(name, String(item));
    }
  }
  return joined(path, search);
}

type LinkProperties = { to: string } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href">;

/** A link within the console. */
export function Link({ to, ...rest }: LinkProperties): JSX.Element {
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
      return;
    event.preventDefault();
    go(to);
  };
  return h("a", { ...rest, href: to, onClick });
}
