/** The path below which a proxy serves the page (`/ask`), as the server says; empty at the root. */
export const BASE = document.querySelector<HTMLMetaElement>('meta[name="base"]')?.content ?? "";
