/** What the page shows, what it takes as something simpler, and its keys. */

import { el } from "../dom";
import { KEYS } from "../keys";
import type { Page } from "../page";
import { number } from "../units";
import { loadsSay } from "../vibration/loads_text";
import { panel } from "./panel";

export function aboutPanel(page: Page): HTMLElement {
  const { root, body } = panel("About this page", false, "about"), { data } = page;
  const says = [
    "The page computes by itself: loops are closed by Newton's method along the way from rest, as supple.assemble does; modes are found at each posture, not looked up. Nothing is interpolated, nothing is loaded.",
    ...(data.vibration ? [`Bodies are condensed for frequencies up to ${number(data.vibration.band, 3)} Hz; modes are those with actuators locked, ${loadsSay(data.vibration)} (gravity, forces, springs and the reactions to them).`] : []),
    ...(data.scene.bodies.some((body) => body.parts.some((part) => part.kind === "cloud")) ? ["Superelements are drawn as their nodes; how energy is divided within one is not shown."] : []),
    ...data.notes,
  ];
  const cost = el("p", { class: "note" });
  const update = () => {
    cost.textContent = `Last posture: loops ${page.cost.closure.toFixed(1)} ms, modes ${page.cost.modes.toFixed(1)} ms.`;
  };
  page.on("modes", update);
  page.on("posture", update);
  update();
  body.append(
    el("p", { class: "note" }, data.description),
    ...says.map((text) => el("p", { class: "note" }, text)), cost,
    el("table", { class: "keys" }, ...KEYS.map(([key, what]) => el("tr", {}, el("td", {}, el("kbd", {}, key)), el("td", {}, what)))),
  );
  return root;
}
