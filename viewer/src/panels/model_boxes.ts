/** Boxes of a reduced model on the map, with their local errors if these are known. */

import type { ModelData } from "../data/page_data";
import type { Page } from "../page";
import { colors } from "../theme";
import { number } from "../units";

export function boxesOver(g: CanvasRenderingContext2D, page: Page, model: ModelData, what: string, axes: [number, number], toPixel: (i: number, value: number) => number): void {
  const names = page.data.coordinates.map(({ name }) => name), columns = axes.map((i) => model.coordinates.indexOf(names[i]));
  if (columns.some((column) => column < 0)) return;
  const family = what.startsWith("error of ") ? what.slice(9) : null, errors = family ? model.errors[family].values : null;
  const s = model.coordinates.length, count = model.low.shape[0];
  const sizes = errors ? Array.from(errors).filter((x) => x > 0) : [];
  const [least, most] = [Math.log10(Math.min(...sizes, 1)), Math.log10(Math.max(...sizes, 1e-16))];
  for (let b = 0; b < count; b++) {
    const present = names.every((name, i) => { // boxes that contain the present values of the other coordinates
      const k = model.coordinates.indexOf(name);
      return axes.includes(i) || k < 0 || (model.low.values[b * s + k] <= page.theta[i] + 1e-12 && page.theta[i] <= model.high.values[b * s + k] + 1e-12);
    });
    if (!present) continue;
    const [x0, x1] = [model.low, model.high].map((t) => toPixel(0, t.values[b * s + columns[0]]));
    const [y0, y1] = [model.high, model.low].map((t) => toPixel(1, t.values[b * s + columns[1]]));
    if (errors) {
      const t = most > least ? (Math.log10(Math.max(errors[b], 10 ** least)) - least) / (most - least) : 1;
      g.fillStyle = `rgba(213, 94, 0, ${(0.1 + 0.65 * t).toFixed(3)})`;
      g.fillRect(x0, y0, x1 - x0, y1 - y0);
      if (x1 - x0 > 40 && y1 - y0 > 14) {
        g.fillStyle = "#000000";
        g.strokeStyle = "#ffffff";
        g.lineWidth = 2.5;
        g.font = "10.5px system-ui, sans-serif";
        g.textAlign = "center";
        g.textBaseline = "middle";
        g.strokeText(number(errors[b], 2), 0.5 * (x0 + x1), 0.5 * (y0 + y1));
        g.lineWidth = 1;
        g.fillText(number(errors[b], 2), 0.5 * (x0 + x1), 0.5 * (y0 + y1));
      }
    }
    g.strokeStyle = errors ? "#ffffff" : colors("light").panel;
    g.strokeRect(x0, y0, x1 - x0, y1 - y0);
  }
}
