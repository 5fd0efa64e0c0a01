// Errors of the way to the server. What the client says of them is for programs; this is for people.

import type { HtmError } from "htm-memory";

export interface Said {
  detail: string;
  hint: string;
  /** Whether it may pass by itself. */
  isPassing: boolean;
}

/** What is said of an error of the way; nothing of the server's own ones. */
export function onTheWay({ code, status }: HtmError): Said | undefined {
  if (code === "unreachable") {
    return { detail: "The server does not answer.", hint: "It may be restarting. Try again in a moment.", isPassing: true };
  }
  if (code !== "no_problem") return undefined;
  if (status === undefined) {
    return { detail: "The server's answer cannot be read.", hint: "It may have been cut off. Try again in a moment.", isPassing: true };
  }
  const detail = `The proxy in front of the server answers ${status}.`;
  if (status === 429) return { detail, hint: "It takes no more requests now. Try again in a moment.", isPassing: true };
  if (status >= 500) return { detail, hint: "The server may be restarting. Try again in a moment.", isPassing: true };
  return { detail, hint: "Load the page again. If that does not help, tell the operator.", isPassing: false };
}
