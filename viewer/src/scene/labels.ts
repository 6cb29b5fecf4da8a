/** Names of places over the machine. */

import { el } from "../dom";
import type { Page } from "../page";
import { placed } from "./transform";

export class Labels {
  private readonly root = el("div", { id: "labels", class: "overlay" });
  private readonly names: { text: HTMLSpanElement; body: number; at: number[] }[] = [];
  private shown = false;

  constructor(private readonly page: Page, stage: HTMLElement) {
    const seen = new Set<string>();
    for (const { name, body, at } of page.data.scene.places) {
      if (seen.has(name)) continue;
      seen.add(name);
      const text = el("span", {}, name);
      this.root.append(text);
      this.names.push({ text, body, at });
    }
    this.root.hidden = true;
    stage.append(this.root);
    page.stage.onDraw(() => this.place());
  }

  toggle(): boolean {
    this.shown = !this.shown;
    this.root.hidden = !this.shown;
    this.page.stage.touch();
    return this.shown;
  }

  private place(): void {
    if (!this.shown) return;
    const taken: [number, number][] = [];
    for (const { text, body, at } of this.names) {
      const found = this.page.stage.project(placed(this.page.position.X, body, at));
      const free = found && taken.every(([x, y]) => Math.abs(x - found[0]) > 60 || Math.abs(y - found[1]) > 15);
      text.hidden = !free;
      if (!free || !found) continue;
      taken.push(found);
      text.style.left = `${found[0]}px`;
      text.style.top = `${found[1]}px`;
    }
  }
}
