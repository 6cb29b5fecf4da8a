/** Contents of the page, its simplifications, and its keys. */

import { el } from "../dom";
import { KEYS } from "../keys";
import type { Page } from "../page";
import { number } from "../units";
import { loadsText } from "../vibration/loads_text";
import { panel } from "./panel";

export function aboutPanel(page: Page): HTMLElement {
  const { root, body } = panel("About this page", false, "about"), { data } = page;
  const notes = [
    "All results are computed on this page: loops are closed by Newton's method along the segment from rest, as in supple.assemble, and modes are computed at each posture. Nothing is interpolated, and no data are loaded.",
    ...(data.vibration ? [`Bodies are condensed for frequencies up to ${number(data.vibration.band, 3)} Hz. Modes are those with locked actuators, ${loadsText(data.vibration)} (gravity, forces, springs and their reactions).`] : []),
    ...(data.scene.bodies.some((body) => body.parts.some((part) => part.kind === "cloud")) ? ["Superelements are drawn as their nodes; the energy distribution within them is not shown."] : []),
    ...data.notes,
  ];
  const cost = el("p", { class: "note" });
  const update = () => {
    cost.textContent = `Computing time of the last posture: loops ${page.cost.closure.toFixed(1)} ms, modes ${page.cost.modes.toFixed(1)} ms.`;
  };
  page.on("modes", update);
  page.on("posture", update);
  update();
  body.append(
    el("p", { class: "note" }, data.description),
    ...notes.map((text) => el("p", { class: "note" }, text)), cost,
    el("table", { class: "keys" }, ...KEYS.map(([key, what]) => el("tr", {}, el("td", {}, el("kbd", {}, key)), el("td", {}, what)))),
  );
  return root;
}
