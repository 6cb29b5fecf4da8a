/** Name of the object under the pointer. */

import * as THREE from "three";
import { el } from "../dom";
import type { Page } from "../page";

export function hover(page: Page): HTMLElement {
  const tip = el("div", { id: "tip", class: "overlay" }), { canvas, camera } = page.stage, ray = new THREE.Raycaster();
  tip.hidden = true;
  let waiting = false;
  canvas.addEventListener("pointermove", (event) => {
    if (waiting || event.buttons) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const { left, top, width, height } = canvas.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
      ray.setFromCamera(new THREE.Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
      const found = ray.intersectObject(page.shape.root, true).find(({ object }) => object.visible && !(object instanceof THREE.AxesHelper));
      let owner: THREE.Object3D | null = found?.object ?? null;
      while (owner && !owner.userData.label) owner = owner.parent;
      tip.hidden = !owner;
      if (!owner) return;
      tip.textContent = owner.userData.label as string;
      tip.style.left = `${x}px`;
      tip.style.top = `${y}px`;
    });
  });
  canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  return tip;
}
