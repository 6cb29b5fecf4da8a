/** A collapsible panel at the side of the page. */

import { el } from "../dom";

export interface Panel {
  root: HTMLDetailsElement;
  body: HTMLDivElement;
  hint: HTMLElement;
}

export function panel(title: string, open: boolean, id: string): Panel {
  const hint = el("small"), body = el("div", { class: "body" });
  const root = el("details", { open, id }, el("summary", {}, title, hint), body);
  return { root, body, hint };
}

/** Call `then` once, shortly after the last of many calls. */
export function later(milliseconds: number, then: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(then, milliseconds);
  };
}
