/** Frequencies over the only coordinate of a machine; a click moves to that value. */

import uPlot from "uplot";
import { el } from "../dom";
import type { Page } from "../page";
import { PALETTE } from "../scene/colors";
import { colors } from "../theme";
import { number, shown } from "../units";
import { decadeLines, decades } from "./log_range";

export class MapCurve {
  private plot: uPlot | null = null;
  private data: uPlot.AlignedData = [[]];
  /** Note on values that are not shown. */
  readonly note = el("p", { class: "note", hidden: "" }, "Negative frequencies, above the buckling load, cannot be shown on the logarithmic axis.");

  constructor(private readonly page: Page, private readonly root: HTMLElement, private readonly chosen: (value: number) => void) {
    page.on("posture", () => this.plot?.redraw());
    page.on("theme", () => this.build());
    new ResizeObserver(() => this.plot?.setSize({ width: root.clientWidth, height: 270 })).observe(root);
  }

  show(grid: { n: number; low: number[]; high: number[]; values: Float64Array; width: number }): void {
    const { n, low, high, values, width } = grid, { factor } = this.unit();
    const x = Array.from({ length: n }, (_, i) => (low[0] + ((high[0] - low[0]) * i) / (n - 1)) * factor);
    const curves = width > 1 ? Array.from({ length: width - 1 }, (_, k) => k + 1) : [0];
    this.data = [x, ...curves.map((k) => Array.from({ length: n }, (_, i) => (values[i * width + k] > 1e-9 ? values[i * width + k] : null)))];
    this.note.hidden = !curves.some((k) => k > 0 && this.data[0].some((_, i) => values[i * width + k] < -1e-9));
    if (this.plot && this.plot.series.length === this.data.length) this.plot.setData(this.data);
    else this.build();
  }

  private unit() {
    return shown(this.page.data.coordinates[0].unit, this.page.data.kinematics.rows.extent);
  }

  private build(): void {
    if (this.data.length < 2) return;
    this.plot?.destroy();
    const c = colors(this.page.theme), { unit, factor } = this.unit(), hertz = this.page.data.vibration !== null;
    const axis = { stroke: c.faint, grid: { stroke: c.grid }, ticks: { stroke: c.grid } };
    this.plot = new uPlot({
      width: this.root.clientWidth || 380, height: 270, legend: { show: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false }, y: hertz ? { distr: 3, log: 10, range: decades } : {} },
      axes: [{ ...axis, label: `${this.page.data.coordinates[0].name}, ${unit}`, labelSize: 22, size: 34 }, { ...axis, label: hertz ? "frequency, Hz" : "singularity", labelSize: 22, size: 56, ...(hertz ? { splits: decadeLines, filter: (_u: uPlot, ticks: number[]) => ticks, values: (_u: uPlot, ticks: number[]) => ticks.map((t) => number(t)) } : {}) }],
      series: [{}, ...this.data.slice(1).map((_, k) => ({ label: hertz ? `mode ${k + 1}, Hz` : "singularity", stroke: PALETTE[k % PALETTE.length], width: 2 }))],
      hooks: {
        ready: [(u) => u.over.addEventListener("click", () => u.cursor.left !== undefined && this.chosen(u.posToVal(u.cursor.left, "x") / factor))],
        draw: [(u) => { // present posture, and the boxes of a reduced model
          const { model, coordinates } = this.page.data, column = model?.coordinates.indexOf(coordinates[0].name) ?? -1;
          for (let b = 0; model && column >= 0 && b < model.low.shape[0]; b++) {
            u.ctx.strokeStyle = c.faint;
            u.ctx.setLineDash([3, 3]);
            for (const side of [model.low, model.high]) {
              const at = u.valToPos(side.values[b * model.coordinates.length + column] * factor, "x", true);
              u.ctx.beginPath();
              u.ctx.moveTo(at, u.bbox.top);
              u.ctx.lineTo(at, u.bbox.top + u.bbox.height);
              u.ctx.stroke();
            }
            u.ctx.setLineDash([]);
          }
          const x = u.valToPos(this.page.theta[0] * factor, "x", true), { top, height } = u.bbox;
          u.ctx.strokeStyle = c.ink;
          u.ctx.lineWidth = 1.5 * devicePixelRatio;
          u.ctx.beginPath();
          u.ctx.moveTo(x, top);
          u.ctx.lineTo(x, top + height);
          u.ctx.stroke();
        }],
      },
    }, this.data, this.root);
    this.plot.over.id = "map";
    this.plot.over.style.cursor = "crosshair";
  }
}
