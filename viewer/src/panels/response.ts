/** Frequency response at the present posture, from a force at one place to the displacement of another. */

import uPlot from "uplot";
import { el, select, slider } from "../dom";
import type { Page } from "../page";
import { PALETTE } from "../scene/colors";
import { colors } from "../theme";
import { number } from "../units";
import { loadsText } from "../vibration/loads_text";
import type { Modes } from "../vibration/modes";
import { portRow, ports as portsOf } from "../vibration/port";
import { receptance, type DampingLaw } from "../vibration/frf";
import { decadeLines, decades } from "./log_range";
import { panel } from "./panel";

const LINES = 700;

export function responsePanel(page: Page): HTMLElement {
  const { root, body, hint } = panel("Response", true, "response"), vibration = page.data.vibration!;
  const ports = portsOf(page.data.scene);
  if (!ports.length) return root;
  const choice = { input: 0, output: 0, ratio: vibration.damping.values[0] };
  const names = ports.map(({ name }) => name), plotRoot = el("div", { class: "plot" });
  const law = (): DampingLaw => ({ kind: vibration.damping.kind, values: vibration.damping.kind === "rayleigh" ? vibration.damping.values : [choice.ratio] });
  const ratioText = el("output", {}, "");
  const showRatio = () => (ratioText.textContent = vibration.damping.kind === "rayleigh" ? "" : `${number(100 * choice.ratio, 2)} %`);
  const inputs = select("force at, N", names, choice.input, (i) => { choice.input = i; draw(); });
  const outputs = select("motion of, m", names, choice.output, (i) => { choice.output = i; draw(); });
  body.append(
    el("div", { class: "row" }, inputs.root, outputs.root), plotRoot);
  if (vibration.damping.kind !== "rayleigh") {
    const label = vibration.damping.kind === "modal" ? "damping ζ" : "loss η";
    body.append(el("label", { class: "control" }, el("span", { class: "faint" }, label), slider(label, -4, -0.5, "any", Math.log10(Math.max(choice.ratio, 1e-4)), (x) => { choice.ratio = 10 ** x; showRatio(); draw(); }), ratioText));
  }
  showRatio();
  body.append(el("p", { class: "note" }, `The lowest ${vibration.count} modes respond dynamically, the others statically; actuators locked, ${loadsText(vibration)}.${vibration.damping.given ? "" : " The file has no damping model: 1 % is used."}${vibration.damping.says.length ? ` Damping that is not included: ${vibration.damping.says.join("; ")}.` : ""}`));
  let chosen = false, plot: uPlot | null = null, data: uPlot.AlignedData = [[], []];

  const row = (i: number) => portRow(ports[i], vibration, page.position.X);

  /** Direction with the largest response at its own place, from the compliance of the lowest modes; at sensors if there are any. */
  function liveliest(modes: Modes): number {
    const sensors = page.data.scene.sensors.length, n = vibration.size;
    const sizes = ports.map((port, i) => {
      if (sensors && !page.data.scene.sensors.includes(port.place)) return -1;
      const g = row(i);
      let total = 0;
      for (let k = 0; k < modes.count; k++) {
        let moved = 0;
        for (let c = 0; c < n; c++) moved += g[c] * modes.shapes[k * n + c];
        total += (moved / Math.max(Math.abs(modes.frequencies[k]), 1e-9)) ** 2;
      }
      return total;
    });
    return sizes.indexOf(Math.max(...sizes));
  }

  function draw(): void {
    const modes = page.modes;
    if (!modes || !root.open || !modes.count) return;
    if (!chosen) {
      chosen = true;
      choice.input = choice.output = liveliest(modes);
      inputs.input.value = outputs.input.value = String(choice.input);
    }
    const low = 0.3 * Math.max(Math.min(...modes.frequencies.map(Math.abs)), 1e-3), high = 1.15 * modes.frequencies[modes.count - 1];
    const hertz = Float64Array.from({ length: LINES }, (_, i) => low * (high / low) ** (i / (LINES - 1)));
    const found = receptance(modes, row(choice.input), row(choice.output), hertz, law());
    const least = 1e-14 * Math.max(...found.real.map((x) => Math.abs(x))); // smaller values are rounding errors
    const size = Array.from(found.real, (x, i) => Math.hypot(x, found.imag[i])).map((x) => (x > least && x > 1e-30 ? x : null));
    data = [Array.from(hertz), size];
    hint.textContent = "|displacement / force|, m/N";
    if (plot) plot.setData(data);
    else build();
  }

  function build(): void {
    plot?.destroy();
    const c = colors(page.theme), axis = { stroke: c.faint, grid: { stroke: c.grid }, ticks: { stroke: c.grid } };
    plot = new uPlot({
      width: plotRoot.clientWidth || 380, height: 230, legend: { show: true }, cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false, distr: 3 }, y: { distr: 3, range: decades } },
      axes: [{ ...axis, label: "frequency, Hz", labelSize: 22, size: 34, splits: decadeLines, filter: (_u, ticks) => ticks, values: (_u, ticks) => ticks.map((t) => number(t)) }, { ...axis, label: "receptance, m/N", labelSize: 22, size: 62, splits: decadeLines, filter: (_u, ticks) => ticks, values: (_u, ticks) => ticks.map((t) => (t === null ? "" : t.toExponential(0))) }],
      series: [{ label: "Hz", value: (_u, v) => (v === null ? "–" : number(v)) }, { label: "m/N", stroke: PALETTE[0], width: 2, value: (_u, v) => (v === null ? "–" : v.toExponential(3)) }],
    }, data, plotRoot);
  }
  page.on("modes", draw);
  page.on("theme", () => plot && build());
  root.addEventListener("toggle", draw);
  new ResizeObserver(() => plot?.setSize({ width: plotRoot.clientWidth, height: 230 })).observe(plotRoot);
  return root;
}
