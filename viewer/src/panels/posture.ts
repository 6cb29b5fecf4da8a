/** Sliders of the coordinates with limits and units, and named configurations. */

import { button, el, slider } from "../dom";
import type { Page } from "../page";
import { number, shown } from "../units";
import { panel } from "./panel";

const FINE = 2000; // steps of a slider over its range

export function posturePanel(page: Page): HTMLElement {
  const { root, body, hint } = panel("Posture", true, "posture");
  const extent = page.data.kinematics.rows.extent;
  const names = Object.keys(page.data.configurations);
  if (names.length) {
    body.append(el("div", { class: "row", role: "group", "aria-label": "Named configurations" },
      ...names.map((name) => button(name, () => page.go(page.data.configurations[name]), { "data-configuration": name, title: `go to configuration ${name}` }))));
  }
  const inputs = page.data.coordinates.map((coordinate, i) => {
    const { unit, factor } = shown(coordinate.unit, extent), { name, low, high, limited } = coordinate;
    const change = (value: number) => {
      const theta = page.theta.slice();
      theta[i] = value;
      page.go(theta);
    };
    const range = slider(`${name}, ${unit}`, low, high, "any", page.theta[i], change, { "data-coordinate": name });
    range.addEventListener("keydown", (event) => { // steps that suit the range; with "any" the browser would choose them
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      change(page.theta[i] + (step * (high - low)) / (event.shiftKey ? FINE : 100));
    });
    const exact = el("input", { type: "number", step: "any", "aria-label": `${name} in ${unit}` });
    exact.addEventListener("change", () => change(Number(exact.value) / factor));
    const ends = [low, high].map((value) => el("span", {}, `${number(value * factor, 3)} ${unit}`));
    const free = limited ? null : el("span", { class: "faint" }, "no limits in the file");
    body.append(el("div", { class: "coordinate" }, el("span", { class: "name", title: name }, name), exact, el("span", { class: "faint" }, unit),
      range, el("div", { class: "limits" }, ends[0], free, ends[1])));
    return { range, exact, factor };
  });
  const message = el("div", { id: "message", role: "status", "aria-live": "polite" });
  body.append(message);
  const update = () => {
    inputs.forEach(({ range, exact, factor }, i) => {
      range.value = String(page.theta[i]);
      const tiny = 1e-9 * (Number(range.max) - Number(range.min)); // smaller values are rounding errors
      const shown = Math.abs(page.theta[i]) < tiny ? 0 : Number((page.theta[i] * factor).toPrecision(6));
      if (document.activeElement !== exact) exact.value = String(shown);
    });
    hint.textContent = `singularity ${number(page.machine.singularity(page.position), 2)}`;
  };
  page.on("posture", update);
  page.on("message", () => {
    message.textContent = page.message;
  });
  update();
  return root;
}
