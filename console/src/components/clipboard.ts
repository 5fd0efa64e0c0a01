// The clipboard.

import { say } from "./toasts";

/** Copies a text and says so: `what` is copied. */
export async function copy(text: string, what: string): Promise<void> {
  say((await isCopied(text)) ? `${what} is copied.` : "The browser does not let this page copy. Mark the text and copy it by hand.");
}

async function isCopied(text: string): Promise<boolean> {
  try {
    // On a plain connection to another machine there is no clipboard.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

function copiedByHand(text: string): boolean {
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "hidden-label";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
