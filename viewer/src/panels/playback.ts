/** Playback of one or two runs: time slider, plots that follow, the second run overlaid on the first. */

import uPlot from "uplot";
import type { Playback } from "../api";
import { button, el, select, slider } from "../dom";
import type { RunData } from "../data/page_data";
import type { Page } from "../page";
import { MachineShape } from "../scene/machine_shape";
import { PALETTE } from "../scene/colors";
import { colors } from "../theme";
import { number } from "../units";
import { panel } from "./panel";

const SECOND = "#D55E00";

export function playbackPanel(page: Page, runs: RunData[]): { root: HTMLElement; api: Playback } {
  const { root, body, hint } = panel(runs.length > 1 ? "Runs" : "Run", true, "runs");
  const end = Math.max(...runs.map(({ time }) => time.values[time.values.length - 1])), begin = Math.min(...runs.map(({ time }) => time.values[0]));
  const shapes = runs.map((_, i) => (i === 0 ? page.shape : new MachineShape(page.data, page.size, { ink: SECOND, tint: SECOND, opacity: 0.45 })));
  shapes.slice(1).forEach((shape) => {
    shape.showFrames(false);
    shape.root.visible = false;
    page.stage.world.add(shape.root);
  });
  const state = { t: begin, playing: false, speed: 1, scale: 1 };
  const time = slider("time, s", begin, end, "any", begin, (t) => go(t)), timeText = el("output");
  const play = button("play", () => {
    state.playing = !state.playing;
    if (state.playing && state.t >= end) state.t = begin;
    show();
  }, { "aria-label": "play or pause" });
  const names = [...new Set(runs.flatMap(({ signals }) => signals.map(({ name }) => name)))];
  const chosen = { signal: 0 };
  const plotRoot = el("div", { class: "plot" });
  const flexible = runs.some(({ nodes }) => Object.keys(nodes).length > 0);
  const speedText = el("output", {}, "1 ×"), scaleText = el("output", {}, "1 ×");
  body.append(
    el("div", { class: "control" }, play, time, timeText),
    el("label", { class: "control" }, el("span", { class: "faint" }, "speed"), slider("speed", -2, 1, "any", 0, (x) => { state.speed = 10 ** x; speedText.textContent = `${number(state.speed, 2)} ×`; }), speedText),
    ...(flexible ? [el("label", { class: "control" }, el("span", { class: "faint" }, "deformation"), slider("deformation, times", 0, 3, "any", 0, (x) => { state.scale = 10 ** x; scaleText.textContent = `${number(state.scale, 2)} ×`; show(); }), scaleText)] : []),
    ...(names.length ? [select("signal", names, 0, (i) => { chosen.signal = i; build(); }).root, plotRoot] : []),
    ...runs.map((run, i) => el("p", { class: "note" }, el("span", { style: `color:${i ? SECOND : PALETTE[0]}` }, "■ "), `${run.name} (${run.kind})${run.note ? `: ${run.note}` : ""}`)),
  );
  let plot: uPlot | null = null;

  function build(): void {
    plot?.destroy();
    const c = colors(page.theme), axis = { stroke: c.faint, grid: { stroke: c.grid }, ticks: { stroke: c.grid } };
    const found = runs.map((run) => ({ run, signal: run.signals.find(({ name }) => name === names[chosen.signal]) })).filter(({ signal }) => signal);
    if (!found.length) return;
    const joined = uPlot.join(found.map(({ run, signal }) => [Array.from(run.signal_time.values), Array.from(signal!.values.values)]));
    const unit = found[0].signal!.unit;
    plot = new uPlot({
      width: plotRoot.clientWidth || 380, height: 220, cursor: { drag: { x: true, y: false } }, scales: { x: { time: false } },
      axes: [{ ...axis, label: "time, s", labelSize: 22, size: 34 }, { ...axis, label: unit ? `${names[chosen.signal]}, ${unit}` : names[chosen.signal], labelSize: 22, size: 66, values: (_u, ticks) => ticks.map((t) => String(Number(t.toPrecision(7)))) }],
      series: [{ label: "s" }, ...found.map(({ run }, i) => ({ label: unit ? `${run.name}, ${unit}` : run.name, stroke: runs.indexOf(run) ? SECOND : PALETTE[0], width: 2, dash: i ? [6, 4] : undefined, spanGaps: true }))],
      hooks: {
        ready: [(u) => u.over.addEventListener("click", () => u.cursor.left !== undefined && go(u.posToVal(u.cursor.left, "x")))],
        draw: [(u) => {
          const x = u.valToPos(state.t, "x", true);
          u.ctx.strokeStyle = c.ink;
          u.ctx.lineWidth = 1.5 * devicePixelRatio;
          u.ctx.beginPath();
          u.ctx.moveTo(x, u.bbox.top);
          u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
          u.ctx.stroke();
        }],
      },
    }, joined, plotRoot);
  }

  function go(t: number): void {
    state.t = Math.min(Math.max(t, begin), end);
    show();
  }

  function show(): void {
    time.value = String(state.t);
    timeText.textContent = `${state.t.toFixed(3)} s`;
    play.textContent = state.playing ? "pause" : "play";
    runs.forEach((run, i) => {
      const { X, U } = instant(page, run, state.t);
      shapes[i].root.visible = true;
      shapes[i].paint(null, false);
      shapes[i].pose(X);
      if (i === 0) page.follow(page.data.coordinates.map(({ name }, k) => at(run.coordinates[name]?.values, run.time.values, state.t) ?? page.theta[k]), X);
      shapes[i].nodes((b) => U[run.bodies.indexOf(page.data.scene.bodies[b]?.name)] ?? null);
      shapes[i].displace(state.scale);
    });
    plot?.redraw(false);
    page.tell("time");
  }

  const before = page.stage.tick;
  page.stage.tick = (seconds) => {
    if (!page.playing) {
      shapes.slice(1).forEach((shape) => (shape.root.visible = false));
      state.playing = false;
      return before(seconds);
    }
    if (!state.playing) {
      page.freshModes();
      return false;
    }
    state.t += seconds * state.speed;
    if (state.t >= end) {
      state.t = end;
      state.playing = false;
    }
    show();
    return true;
  };
  page.on("theme", build);
  new ResizeObserver(() => plot?.setSize({ width: plotRoot.clientWidth, height: 220 })).observe(plotRoot);
  hint.textContent = `${number(end - begin, 3)} s`;
  queueMicrotask(() => {
    build();
    show();
  });
  return { root, api: { names: runs.map(({ name }) => name), go } };
}

/** Value of a signal at a time, interpolated between its samples. */
function at(values: Float64Array | undefined, times: Float64Array, t: number): number | undefined {
  if (!values) return undefined;
  let i = 0;
  while (i < times.length - 2 && times[i + 1] <= t) i++;
  const j = Math.min(i + 1, times.length - 1), f = j > i ? Math.min(Math.max((t - times[i]) / (times[j] - times[i]), 0), 1) : 0;
  return (1 - f) * values[i] + f * values[j];
}

/** Poses X (bodies + 1, 12) of the page's bodies and displacements of nodes at a time, interpolated between frames. */
function instant(page: Page, run: RunData, t: number): { X: Float64Array; U: (Float64Array | null)[] } {
  const times = run.time.values, X = Float64Array.from(page.data.kinematics.rest.X.values);
  let i = 0;
  while (i < times.length - 2 && times[i + 1] <= t) i++;
  const j = Math.min(i + 1, times.length - 1), f = j > i ? Math.min(Math.max((t - times[i]) / (times[j] - times[i]), 0), 1) : 0;
  const count = run.bodies.length, U: (Float64Array | null)[] = [];
  run.bodies.forEach((name, k) => {
    const body = page.data.scene.bodies.findIndex((item) => item.name === name), p = run.position.values, q = run.quaternion.values;
    const nodes = run.nodes[name];
    if (nodes) {
      const size = nodes.values.length / times.length, own = new Float64Array(size);
      for (let c = 0; c < size; c++) own[c] = (1 - f) * nodes.values[i * size + c] + f * nodes.values[j * size + c];
      U.push(own);
    } else U.push(null);
    if (body < 0) return;
    const a = (i * count + k) * 4, b = (j * count + k) * 4;
    const sign = q[a] * q[b] + q[a + 1] * q[b + 1] + q[a + 2] * q[b + 2] + q[a + 3] * q[b + 3] < 0 ? -1 : 1;
    let [x, y, z, w] = [0, 1, 2, 3].map((c) => (1 - f) * q[a + c] + sign * f * q[b + c]);
    const norm = Math.hypot(x, y, z, w) || 1;
    [x, y, z, w] = [x / norm, y / norm, z / norm, w / norm];
    const R = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)];
    for (let c = 0; c < 3; c++) X[12 * body + c] = (1 - f) * p[(i * count + k) * 3 + c] + f * p[(j * count + k) * 3 + c];
    for (let c = 0; c < 9; c++) X[12 * body + 3 + c] = R[c];
  });
  return { X, U };
}
