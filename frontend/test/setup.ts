/** What jsdom lacks and the page uses. */
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

configure({ asyncUtilTimeout: 10_000 }); // a part that is fetched when needed, on a busy machine

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});

HTMLDialogElement.prototype.showModal = function showModal() {
  this.open = true;
};
HTMLDialogElement.prototype.close = function close() {
  this.open = false;
  this.dispatchEvent(new Event("close"));
};
HTMLElement.prototype.showPopover = () => undefined;
Element.prototype.scrollIntoView = () => undefined;
window.matchMedia = ((query: string) => ({ matches: false, media: query })) as typeof window.matchMedia;
vi.stubGlobal("ResizeObserver", class { observe() {} unobserve() {} disconnect() {} });
vi.stubGlobal("IntersectionObserver", class { observe() {} unobserve() {} disconnect() {} });
