// Addresses: each view has a path, and its state is in the query, so that an address can be shared.

import { h, type AnchorHTMLAttributes, type JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const CHANGED = "console:moved";

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
  const [path = "/", query = ""] = address.split("?");
  return { path, query: new URLSearchParams(query) };
}

function addressNow(): string {
  return location.pathname + location.search;
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
  history[replace ? "replaceState" : "pushState"](null, "", address);
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
  const namespace = new URLSearchParams(location.search).get("namespace");
  for (const [name, value] of Object.entries({ namespace, ...query })) {
    const items = Array.isArray(value) ? value : [value];
    for (const item of items) {
      if (item !== null && item !== undefined && item !== false && item !== "") search.append(name, String(item));
    }
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
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
