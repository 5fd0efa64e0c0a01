// Text fields that act once their text is entered, not letter by letter.

import type { RefObject, TargetedEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Entered {
  ref: RefObject<HTMLInputElement | null>;
  onChange: (event: TargetedEvent<HTMLInputElement>) => void;
}

/**
 * What a text field needs beside its looks. It shows the value when that changes, and after each entry. `enter` takes a
 * valid text that somebody has entered: by Enter, or by leaving the field.
 */
export function useEntered(value: string, enter: (text: string) => void): Entered {
  const ref = useRef<HTMLInputElement>(null);
  const [entries, setEntries] = useState(0);
  // With the value as its key it would be another field each time, without the focus.
  useLayoutEffect(() => {
    if (ref.current) ref.current.value = value;
  }, [value, entries]);
  const onChange = ({ currentTarget: field }: TargetedEvent<HTMLInputElement>): void => {
    if (!field.reportValidity()) return;
    setEntries(entries + 1);
    // A field that shows another text than was typed counts as changed once more when it is left.
    if (field.value !== value) enter(field.value);
  };
  return { ref, onChange };
}
