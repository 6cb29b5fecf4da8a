/** Vibration modes: frequencies, animation, and distribution of energy. */

import { button, el, slider } from "../dom";
import type { Page } from "../page";
import { length, number } from "../units";
import { energyShares } from "../vibration/energy_shares";
import { loadsText, loadsWarning } from "../vibration/loads_text";
import { panel } from "./panel";

export function modesPanel(page: Page): HTMLElement {
  const { root, body, hint } = panel("Vibration", true, "vibration");
  const vibration = page.data.vibration;
  if (!vibration) {
    body.append(el("p", { class: "note" }, `No modes: ${page.data.still.replace(/:$/, "")}.`));
    return root;
  }
  const buttons = Array.from({ length: vibration.count }, (_, k) => {
    const hertz = el("small", {}, "–");
    const made = button("", () => page.animate({ mode: page.animation.mode === k ? null : k }), { "data-mode": k, "aria-pressed": "false" });
    made.append(String(k + 1), hertz);
    return { made, hertz };
  });
  const play = button("pause", () => page.animate({ paused: !page.animation.paused }), { "aria-label": "pause or resume" });
  const control = (label: string, low: number, high: number, value: number, format: (value: number) => string, changed: (value: number) => void) => {
    const shown = el("output", {}, format(value));
    const input = slider(label, low, high, "any", value, (x) => {
      shown.textContent = format(x);
      changed(x);
    });
    return el("label", { class: "control" }, el("span", { class: "faint" }, label), input, shown);
  };
  const extent = page.data.kinematics.rows.extent, { amplitude, speed } = page.animation;
  const shares = el("table", { "aria-label": "distribution of the elastic energy of the mode" });
  const moving = el("div", { class: "body", style: "padding:0" },
    control("amplitude", 0, 0.2, amplitude, (a) => length(a * extent), (a) => page.animate({ amplitude: a })),
    control("phase", 0, 2 * Math.PI, 0, (a) => `${number((a * 180) / Math.PI, 3)} °`, (phase) => page.animate({ phase })),
    control("speed", 0, 3, speed, (a) => `${number(a, 2)} Hz`, (a) => page.animate({ speed: a })),
    el("div", { class: "row" }, play, el("span", { class: "note" }, `the amplitude is the largest displacement as drawn; actuators locked, ${loadsText(vibration)}`)),
    shares);
  const warning = el("p", { class: "note", role: "status" });
  body.append(warning, el("div", { class: "modes", role: "group", "aria-label": "Modes" }, ...buttons.map(({ made }) => made)), moving);
  const update = () => {
    const modes = page.modes, chosen = page.animation.mode;
    buttons.forEach(({ made, hertz }, k) => {
      const known = modes !== null && k < modes.count;
      hertz.textContent = known ? `${number(modes.frequencies[k])} Hz` : "–";
      made.disabled = !known;
      made.setAttribute("aria-pressed", String(k === chosen));
    });
    moving.hidden = chosen === null;
    play.textContent = page.animation.paused ? "resume" : "pause";
    hint.textContent = modes ? `lowest ${number(modes.frequencies[0])} Hz${modes.converged ? "" : ", not converged"}` : "";
    warning.textContent = modes ? loadsWarning(modes) : "";
    warning.hidden = warning.textContent === "";
    shares.replaceChildren();
    if (modes && chosen !== null && chosen < modes.count) {
      for (const { part, share } of energyShares(page.machine.structure!, vibration, page.data, modes, chosen).slice(0, 4)) {
        shares.append(el("tr", {}, el("td", {}, part), el("td", { class: "number" }, `${number(100 * share, 2)} % of the elastic energy`)));
      }
    }
  };
  page.on("modes", update);
  page.on("animation", update);
  update();
  return root;
}
