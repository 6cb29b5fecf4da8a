/** Directions of the axes and of gravity, in the corner. */

import * as THREE from "three";
import { el } from "../dom";
import type { Page } from "../page";
import { colors } from "../theme";

const SIZE = 92, ARM = 30;
const AXES: [string, string][] = [["x", "#D55E00"], ["y", "#009E73"], ["z", "#0072B2"]];

export function gizmo(page: Page): HTMLCanvasElement {
  const canvas = el("canvas", { id: "gizmo", class: "overlay", "aria-hidden": "true" }), ratio = Math.min(devicePixelRatio || 1, 2);
  canvas.width = canvas.height = SIZE * ratio;
  const g = canvas.getContext("2d")!;
  g.scale(ratio, ratio);
  const gravity = page.data.scene.gravity, ways: { way: THREE.Vector3; name: string; color: string }[] = AXES.map(([name, color], k) => ({ way: new THREE.Vector3().setComponent(k, 1), name, color }));
  if (gravity && Math.hypot(...gravity) > 0) ways.push({ way: new THREE.Vector3(gravity[0], gravity[1], gravity[2]).applyMatrix4(page.stage.world.matrix).normalize(), name: "g", color: "" });
  const draw = () => {
    const view = new THREE.Matrix3().setFromMatrix4(page.stage.camera.matrixWorldInverse), ink = colors(page.theme).ink;
    g.clearRect(0, 0, SIZE, SIZE);
    g.font = "600 12px system-ui, sans-serif";
    g.textAlign = "center";
    g.textBaseline = "middle";
    const seen = ways.map((item) => ({ ...item, at: item.way.clone().applyMatrix3(view) })).sort((a, b) => a.at.z - b.at.z);
    for (const { at, name, color } of seen) {
      const x = SIZE / 2 + ARM * at.x, y = SIZE / 2 - ARM * at.y, falls = name === "g";
      g.strokeStyle = g.fillStyle = color || ink;
      g.lineWidth = falls ? 3 : 2;
      g.setLineDash(falls ? [4, 2] : []);
      g.beginPath();
      g.moveTo(SIZE / 2, SIZE / 2);
      g.lineTo(x, y);
      g.stroke();
      if (Math.hypot(at.x, at.y) < 0.15 && !falls) continue; // it points at the viewer
      g.fillText(name, SIZE / 2 + (ARM + 9) * at.x + (falls ? 8 : 0), SIZE / 2 - (ARM + 9) * at.y);
    }
  };
  page.stage.onDraw(draw);
  page.on("theme", draw);
  return canvas;
}
