/** For the `ref` of a field that opens with the focus. One function for good: a new one would be called at every render. */
export function takeFocus(field: HTMLElement | null): void {
  field?.focus();
}
