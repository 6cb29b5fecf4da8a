/** A reduced model at the posture: its frequencies compared with those of the mechanism, and its coefficients. */

import { el } from "../dom";
import type { ReducedModel } from "../model/reduced_model";
import type { Page } from "../page";
import { number } from "../units";
import { panel } from "./panel";

export function modelPanel(page: Page, model: ReducedModel): HTMLElement {
  const { root, body, hint } = panel("Reduced model", true, "model"), table = el("table"), coefficients = el("table");
  const all = el("details", {}, el("summary", {}, "Coefficients at this posture"), coefficients), where = el("p", { class: "note" });
  body.append(where, table, all, ...model.data.says.map((text) => el("p", { class: "note" }, text)));
  const update = () => {
    const values = model.evaluate(page.theta), modes = page.modes;
    hint.textContent = values ? `box ${model.fitted.locate(model.data.coordinates.map((name) => page.theta[page.data.coordinates.findIndex((c) => c.name === name)])) + 1} of ${model.data.low.shape[0]}` : "";
    where.textContent = values ? "" : model.placed ? "The posture is outside the region of the model." : "The model has other coordinates than the mechanism and is not evaluated here.";
    table.replaceChildren();
    coefficients.replaceChildren();
    if (!values) return;
    const own = model.frequencies(values);
    if (own.length && modes) {
      table.append(el("tr", {}, ...["mode", "mechanism", "model", "difference"].map((text) => el("th", {}, text))));
      own.slice(0, modes.count).forEach((hertz, k) => table.append(el("tr", {}, el("td", {}, String(k + 1)), el("td", { class: "number" }, `${number(modes.frequencies[k], 6)} Hz`),
        el("td", { class: "number" }, `${number(hertz, 6)} Hz`), el("td", { class: "number" }, (hertz / modes.frequencies[k] - 1).toExponential(1)))));
    }
    if (!all.open) return;
    model.columns.forEach(({ label, unit }, c) => values[c] !== 0 && coefficients.append(el("tr", {}, el("td", {}, label), el("td", { class: "number" }, `${number(values[c], 5)} ${unit}`))));
  };
  all.addEventListener("toggle", update);
  page.on("modes", update);
  if (!page.data.vibration) page.on("posture", update);
  update();
  return root;
}
