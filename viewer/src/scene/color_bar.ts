/** Colour scale of the beams while a mode is shown. */

import { el } from "../dom";
import type { Page } from "../page";
import { number } from "../units";
import { gradient } from "./colors";

export function colorBar(page: Page): HTMLElement {
  const high = el("span"), mode = el("div");
  const scale = el("div", {}, el("div", {}, "elastic energy per metre", el("span", { class: "long" }, ", for 1 J in the mode")),
    el("div", { class: "scale", style: `background:${gradient()}` }), el("div", { class: "ends" }, el("span", {}, "0 J/m"), high));
  const root = el("div", { id: "bar", class: "overlay" }, mode,
    scale);
  const update = () => {
    root.hidden = page.density === null;
    scale.hidden = !page.density; // only joints and superelements deform
    high.textContent = `${number(page.density ?? 0, 3)} J/m`;
    const k = page.animation.mode;
    mode.textContent = k !== null && page.modes && k < page.modes.count ? `mode ${k + 1}: ${number(page.modes.frequencies[k])} Hz` : "";
  };
  page.on("modes", update);
  page.on("animation", update);
  update();
  return root;
}
