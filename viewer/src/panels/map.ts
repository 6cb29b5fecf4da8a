/** Map of the region: a frequency or the singularity over one or two coordinates; a click moves to that posture. */

import type { Background } from "../background";
import { el, select } from "../dom";
import type { Page } from "../page";
import type { ReducedModel } from "../model/reduced_model";
import { css, gradient, viridis } from "../scene/colors";
import { colors } from "../theme";
import { number, shown } from "../units";
import { MapCurve } from "./map_curve";
import { boxesOver } from "./model_boxes";
import { later, panel } from "./panel";

const LEVELS = [5, 9, 17, 33], LINE = 61; // postures per side, coarse to fine; along one coordinate
const LEFT = 52, BELOW = 36, RIGHT = 8, TOP = 8, TALL = 300;

interface Grid { n: number; low: number[]; high: number[]; values: Float64Array; width: number }

export function mapPanel(page: Page, background: Background, evaluated: ReducedModel | null): HTMLElement {
  const { root, body, hint } = panel("Map of the region", true, "region");
  const { coordinates, vibration } = page.data, two = coordinates.length > 1, model = page.data.model;
  const quantities = [...Array.from({ length: vibration?.count ?? 0 }, (_, k) => `mode ${k + 1}, Hz`), "singularity"], computed = quantities.length;
  const known = evaluated?.placed ? evaluated : null; // its columns follow the computed quantities
  quantities.push(...(known?.columns ?? []).map(({ label, unit }) => `${label}${unit ? `, ${unit}` : ""}`));
  const choice = { x: 0, y: 1, quantity: 0, overlay: model ? 1 : 0 };
  const canvas = el("canvas", { id: "map", class: "own", tabindex: 0, role: "img", "aria-label": "map of the region; click to move there, or use the arrow keys" });
  const plot = el("div", { class: "plot" });
  let grid: Grid | null = null;
  const low = el("span"), high = el("span");
  const bar = el("div", { class: "colorbar" }, low, el("div", { style: `background:${gradient()}` }), high);
  const names = coordinates.map(({ name }) => name);
  const again = () => {
    grid = null;
    compute();
  };
  const chooseX = select("across", names, choice.x, (i) => {
    if (two && i === choice.y) choice.y = choice.x;
    choice.x = i;
    chooseY.input.value = String(choice.y);
    again();
  });
  const chooseY = select("up", names, choice.y, (i) => {
    if (i === choice.x) choice.x = choice.y;
    choice.y = i;
    chooseX.input.value = String(choice.x);
    again();
  });
  const chooseWhat = select("show", quantities, choice.quantity, (i) => {
    choice.quantity = i;
    draw();
  });
  const curve = two ? null : new MapCurve(page, plot, (value) => page.go([value]));
  if (two) plot.append(canvas);
  const overlays = model ? ["nothing", "boxes", ...Object.keys(model.errors).map((family) => `error of ${family}`)] : [];
  body.append(el("div", { class: "row" }, ...(two ? [chooseWhat.root, ...(coordinates.length > 2 ? [chooseX.root, chooseY.root] : [])] : []),
    ...(model ? [select("reduced model", overlays, choice.overlay, (i) => {
      choice.overlay = i;
      draw();
    }).root] : [])), plot, ...(two ? [bar] : []), ...(curve ? [curve.note] : []));
  if (coordinates.length > 2) body.append(el("p", { class: "note" }, "The other coordinates have their present values."));

  /** Index of the quantity in the worker's results: singularity first. */
  const column = () => (choice.quantity === computed - 1 ? 0 : 1 + choice.quantity);

  /** Value at posture k of the grid: computed in the background, or a coefficient of the model. */
  function shownAt(of: Grid, k: number): number {
    if (choice.quantity < computed) return of.values[k * of.width + column()];
    const theta = page.theta.slice(), at = [k % of.n, Math.floor(k / of.n)];
    [choice.x, choice.y].forEach((i, j) => (theta[i] = of.low[j] + ((of.high[j] - of.low[j]) * at[j]) / (of.n - 1)));
    return known?.evaluate(theta)?.[choice.quantity - computed] ?? NaN;
  }

  function compute(level = 0): void {
    const axes = two ? [choice.x, choice.y] : [0], n = two ? LEVELS[level] : LINE;
    const lows = axes.map((i) => coordinates[i].low), highs = axes.map((i) => coordinates[i].high);
    const count = two ? n * n : n, s = coordinates.length, coarse = level > 0 ? grid : null;
    const known = (k: number) => coarse !== null && (k % n) % 2 === 0 && Math.floor(k / n) % 2 === 0; // from the coarser level
    const wanted = Array.from({ length: count }, (_, k) => k).filter((k) => !known(k)), thetas = new Float64Array(wanted.length * s);
    wanted.forEach((k, row) => {
      thetas.set(page.theta, row * s);
      const at = two ? [k % n, Math.floor(k / n)] : [k];
      axes.forEach((i, j) => (thetas[row * s + i] = lows[j] + ((highs[j] - lows[j]) * at[j]) / (n - 1)));
    });
    let next: Grid | null = null;
    background.begin({ thetas, place: null }, (piece) => {
      if (!next) {
        const width = piece.width, values = new Float64Array(count * width).fill(NaN);
        for (let k = 0; coarse && k < count; k++) {
          const from = (Math.floor(k / n / 2) * coarse.n + Math.floor((k % n) / 2)) * width;
          if (known(k)) values.set(coarse.values.subarray(from, from + width), k * width);
        }
        next = { n, low: lows, high: highs, width, values };
      }
      for (let row = 0; row < piece.values.length / piece.width; row++) {
        next.values.set(piece.values.subarray(row * piece.width, (row + 1) * piece.width), wanted[piece.first + row] * piece.width);
      }
      const last = !two || level + 1 === LEVELS.length;
      hint.textContent = piece.done && last ? `${count} postures` : "computing …";
      if (piece.done || !coarse) {
        grid = next;
        draw();
      }
      if (piece.done && !last) compute(level + 1);
    });
  }

  function range(): [number, number] {
    let least = Infinity, most = -Infinity;
    if (!grid) return [0, 1];
    for (let k = 0; k < grid.n * grid.n; k++) {
      const value = shownAt(grid, k);
      if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
    return least <= most ? [least, most] : [0, 1];
  }

  const ratio = () => Math.min(window.devicePixelRatio || 1, 2);
  const inner = () => ({ w: canvas.clientWidth - LEFT - RIGHT, h: TALL - TOP - BELOW });

  function draw(): void {
    if (curve) {
      if (grid) curve.show(grid);
      return;
    }
    canvas.style.height = `${TALL}px`;
    canvas.width = canvas.clientWidth * ratio();
    canvas.height = TALL * ratio();
    const g = canvas.getContext("2d")!, c = colors(page.theme), { w, h } = inner();
    if (w <= 0) return;
    g.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    g.clearRect(0, 0, canvas.clientWidth, TALL);
    const [least, most] = range();
    if (grid) { // one pixel per posture, smoothed by the browser between valid ones
      const { n } = grid, picture = document.createElement("canvas");
      picture.width = picture.height = n;
      const brush = picture.getContext("2d")!;
      for (let k = 0; k < n * n; k++) {
        const value = shownAt(grid, k);
        if (!Number.isFinite(value)) continue;
        brush.fillStyle = css(viridis(most > least ? (value - least) / (most - least) : 0.5));
        brush.fillRect(k % n, n - 1 - Math.floor(k / n), 1, 1);
      }
      g.imageSmoothingEnabled = false;
      const half = 0.5 / (n - 1); // cells are centered at their postures
      g.save();
      g.beginPath();
      g.rect(LEFT, TOP, w, h);
      g.clip();
      g.drawImage(picture, LEFT - half * w, TOP - half * h, w * (1 + 2 * half), h * (1 + 2 * half));
      g.restore();
    }
    g.strokeStyle = c.line;
    g.strokeRect(LEFT, TOP, w, h);
    if (model && choice.overlay) boxesOver(g, page, model, overlays[choice.overlay], [choice.x, choice.y], (i, value) => toPixel(i, value));
    ticks(g, c.faint, c.ink);
    const x = toPixel(0, page.theta[choice.x]), y = toPixel(1, page.theta[choice.y]);
    for (const [color, thick] of [["#000000", 3.5], ["#ffffff", 1.6]] as [string, number][]) {
      g.strokeStyle = color;
      g.lineWidth = thick;
      g.beginPath();
      g.moveTo(x - 9, y); g.lineTo(x + 9, y); g.moveTo(x, y - 9); g.lineTo(x, y + 9);
      g.stroke();
    }
    g.lineWidth = 1;
    const unit = choice.quantity >= computed ? ` ${known!.columns[choice.quantity - computed].unit}` : column() === 0 ? "" : " Hz";
    low.textContent = grid ? `${number(least, 3)}${unit}` : "";
    high.textContent = grid ? `${number(most, 3)}${unit}` : "";
  }

  function axis(i: number) {
    return coordinates[i === 0 ? choice.x : choice.y];
  }

  function toPixel(i: number, value: number): number {
    const { low: a, high: b } = axis(i), { w, h } = inner(), t = (value - a) / (b - a);
    return i === 0 ? LEFT + t * w : TOP + (1 - t) * h;
  }

  function ticks(g: CanvasRenderingContext2D, faint: string, ink: string): void {
    const extent = page.data.kinematics.rows.extent;
    g.font = "11.5px system-ui, sans-serif";
    for (const i of [0, 1]) {
      const { low: a, high: b, name, unit } = axis(i), { unit: shownUnit, factor } = shown(unit, extent);
      g.fillStyle = faint;
      for (const t of steps(a * factor, b * factor, i === 0 ? 5 : 4)) {
        const at = toPixel(i, t / factor);
        g.textAlign = i === 0 ? "center" : "right";
        g.textBaseline = i === 0 ? "top" : "middle";
        if (i === 0) g.fillText(number(t), at, TALL - BELOW + 5);
        else g.fillText(number(t), LEFT - 6, at);
        g.fillRect(i === 0 ? at : LEFT - 3, i === 0 ? TALL - BELOW : at, i === 0 ? 1 : 3, i === 0 ? 3 : 1);
      }
      g.fillStyle = ink;
      g.save();
      if (i === 0) g.translate(LEFT + inner().w / 2, TALL - 14);
      else {
        g.translate(10, TOP + inner().h / 2);
        g.rotate(-Math.PI / 2);
      }
      g.textAlign = "center";
      g.textBaseline = i === 0 ? "top" : "middle";
      g.fillText(`${name}, ${shownUnit}`, 0, 0);
      g.restore();
    }
  }

  canvas.addEventListener("click", (event) => {
    const { left, top } = canvas.getBoundingClientRect(), { w, h } = inner(), theta = page.theta.slice();
    const t = [(event.clientX - left - LEFT) / w, 1 - (event.clientY - top - TOP) / h].map((x) => Math.min(Math.max(x, 0), 1));
    [choice.x, choice.y].forEach((i, j) => (theta[i] = coordinates[i].low + t[j] * (coordinates[i].high - coordinates[i].low)));
    page.go(theta);
  });
  canvas.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    const theta = page.theta.slice();
    [choice.x, choice.y].forEach((i, j) => (theta[i] += (way[j] * (coordinates[i].high - coordinates[i].low)) / 60));
    page.go(theta);
    event.preventDefault();
  });

  let others = "", begun = false; // computing occupies a core: start only when the panel is visible
  const anew = later(250, () => begun && compute());
  page.on("posture", () => {
    draw();
    const now = page.theta.filter((_, i) => i !== choice.x && (!two || i !== choice.y)).map((x) => x.toFixed(9)).join();
    if (now !== others && two) anew();
    others = now;
  });
  others = page.theta.filter((_, i) => i !== choice.x && (!two || i !== choice.y)).map((x) => x.toFixed(9)).join();
  page.on("theme", draw);
  new ResizeObserver(() => draw()).observe(plot);
  root.addEventListener("toggle", () => root.open && draw());
  const seen = new IntersectionObserver((entries) => {
    if (begun || !entries.some((entry) => entry.isIntersecting)) return;
    begun = true;
    compute();
  });
  seen.observe(plot);
  return root;
}

/** Round numbers within a range, approximately `about` of them. */
export function steps(low: number, high: number, about: number): number[] {
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw) ?? raw, found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}
