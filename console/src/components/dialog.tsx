// Questions that are asked before something is done.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { HtmError } from "htm-memory";
import { asError } from "../server";
import { Problem } from "./basics";
import { focusIfLost } from "./focus";
import { sayFailed } from "./toasts";

interface DialogProperties {
  title: string;
  /** Closes it. Also called by Escape. */
  onClose: () => void;
  /** It stays when Escape is pressed: what it shows would be lost. */
  isKept?: boolean;
  children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it, and gives it back afterwards. */
export function Dialog({ title, onClose, isKept = false, children }: DialogProperties): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const isShown = useRef(true);
  useEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      // The event of this comes later, when another dialog may be in its place.
      isShown.current = false;
      dialog?.close();
      // It is out of the page already, so the browser does not give the focus back.
      focusIfLost(() => (opener instanceof HTMLElement && opener !== document.body && opener.isConnected ? opener : null));
    };
  }, []);
  const closed = (): void => {
    if (!isShown.current) return;
    // Browsers let no page refuse Escape for ever.
    if (isKept) element.current?.showModal();
    else onClose();
  };
  return (
    <dialog ref={element} class="dialog stack" aria-label={title} onClose={closed}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProperties<Done> {
  title: string;
  /** The verb on the button. */
  verb: string;
  /** What is on the button that does nothing. Where the verb is to cancel something, another word. */
  leave?: string;
  isDangerous?: boolean;
  /** False while the form in it is incomplete. */
  isReady?: boolean;
  /** Does it. The dialog stays open with the error if it fails; if it was closed meanwhile, a message says so. */
  act: () => Promise<Done>;
  onClose: () => void;
  /**
   * What follows on the page when it is done. Default: it is closed. Whoever has closed the dialog is elsewhere by then, and
   * nothing follows: what must be read again belongs to `act`.
   */
  onDone?: (done: Done) => void;
  children?: ComponentChildren;
}

/** A question with a button that does it. */
export function Confirm<Done>(properties: ConfirmProperties<Done>): JSX.Element {
  const { title, verb, leave = "Cancel", isDangerous, isReady = true, act, onClose, onDone = onClose, children } = properties;
  const [error, setError] = useState<HtmError>();
  const [isActing, setActing] = useState(false);
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setActing(true);
    try {
      const done = await act();
      if (isShown.current) onDone(done);
    } catch (failure) {
      if (!isShown.current) return sayFailed(failure);
      setError(asError(failure));
      setActing(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {error && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            {leave}
          </button>
          <button type="submit" class={`button ${isDangerous ? "danger" : "primary"}`} disabled={isActing || !isReady}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
