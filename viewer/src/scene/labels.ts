/** Names over the machine: of bodies at their centers, of frames and joints at their places. */

import type { BodyData, Part } from "../data/page_data";
import { el } from "../dom";
import type { Page } from "../page";
import { placed } from "./transform";

const BESIDE = 7, GAP = 4; // px: distance of a name from its place, and space between names

export class Labels {
  private readonly root = el("div", { id: "labels", class: "overlay" });
  private readonly names: { text: HTMLSpanElement; body: number; at: number[]; width: number; height: number }[] = [];
  private shown = false;

  constructor(private readonly page: Page, stage: HTMLElement) {
    const { bodies, places } = page.data.scene, seen = new Set<string>();
    const owned = new Map(bodies.map((body, b) => [body.name, { body: b, at: middle(body) }]));
    for (const { name, ...place } of places) {
      if (seen.has(name)) continue;
      seen.add(name);
      const { body, at } = owned.get(name) ?? place, text = el("span", { "data-name": name }, name);
      this.root.append(text);
      this.names.push({ text, body, at, width: 0, height: 0 });
    }
    this.root.hidden = true;
    stage.append(this.root);
    page.stage.onDraw(() => this.place());
  }

  toggle(): boolean {
    this.shown = !this.shown;
    this.root.hidden = !this.shown;
    if (this.shown) for (const one of this.names) this.measure(one);
    this.page.stage.touch();
    return this.shown;
  }

  private measure(one: Labels["names"][number]): void {
    one.text.hidden = false;
    one.width = one.text.offsetWidth + GAP;
    one.height = one.text.offsetHeight;
  }

  /** Show every name beside its place; names that would cover another are hidden until there is space. */
  private place(): void {
    if (!this.shown) return;
    const taken: { x: number; y: number; width: number; height: number }[] = [];
    for (const { text, body, at, width, height } of this.names) {
      const found = this.page.stage.project(placed(this.page.position.X, body, at));
      const x = found ? found[0] + BESIDE : 0, y = found ? found[1] - height / 2 : 0;
      const free = found && taken.every((other) => x >= other.x + other.width || other.x >= x + width || y >= other.y + other.height || other.y >= y + height);
      text.hidden = !free;
      if (!free) continue;
      taken.push({ x, y, width, height });
      text.style.left = `${x}px`;
      text.style.top = `${y}px`;
    }
  }
}

/** Center of the bounding box of a body, in its axes; its origin if nothing is drawn. */
export function middle(body: BodyData): number[] {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const part of body.parts) {
    const { values } = points(part);
    for (let i = 0; i < values.length; i++) {
      low[i % 3] = Math.min(low[i % 3], values[i]);
      high[i % 3] = Math.max(high[i % 3], values[i]);
    }
  }
  return low.map((value, k) => (value <= high[k] ? (value + high[k]) / 2 : 0));
}

function points(part: Part) {
  return part.kind === "solid" ? part.points : part.at;
}
