/** Start of the page; the worker that fills maps runs the same script. */

import { api } from "./api";
import { read } from "./data/encoded";
import type { PageData } from "./data/page_data";
import { layout } from "./layout";
import { work } from "./worker";

declare global {
  interface Window {
    supple: unknown;
  }
}

async function begin(): Promise<void> {
  const text = document.getElementById("supple-data")?.textContent ?? "";
  if (text.trim().startsWith("@")) {
    document.body.append("This page contains no mechanism: run `supple view FILE` to open one.");
    return;
  }
  let ready: () => void = () => undefined;
  const waiting = new Promise<boolean>((done) => (ready = () => done(true)));
  window.supple = { ready: waiting };
  const data = (await read(text)) as PageData;
  const { page, playback } = layout(data);
  window.supple = { ...api(page, playback), ready: waiting };
  ready();
}

if (typeof document === "undefined") work();
else begin().catch((error: unknown) => {
  console.error(error);
  document.body.append(`The page could not start: ${error instanceof Error ? error.message : String(error)}`);
});
