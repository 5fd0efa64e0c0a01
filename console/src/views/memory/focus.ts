// Where the focus goes when what had it is gone.

/** The content: whoever reads on begins at its top. */
export function focusContent(): void {
  document.getElementById("content")?.focus({ preventScroll: true });
}
