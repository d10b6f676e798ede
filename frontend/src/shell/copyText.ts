/** Puts text on the clipboard; also where the page came over plain http, which has no clipboard of its own. */
export async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (!clipboard) throw new Error("no clipboard");
    await clipboard.writeText(text);
  } catch {
    if (!copySelected(text)) throw new Error("The browser did not allow copying.");
  }
}

/** The older way: select it somewhere out of sight, and copy what is selected. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  field.style.cssText = "position: fixed; inset-block-start: -10rem";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
