/** Modes of a measured test: their points as arrows, together with the model's modes. */

import * as THREE from "three";
import { button, el } from "../dom";
import type { TestData } from "../data/page_data";
import type { Page } from "../page";
import { number } from "../units";
import { panel } from "./panel";

export function testPanel(page: Page, test: TestData): HTMLElement {
  const { root, body, hint } = panel("Measured test", true, "test");
  hint.textContent = `${test.points.length} points`;
  const positions = new Float32Array(6 * test.points.length), geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: "#D55E00" }));
  lines.frustumCulled = false;
  const size = 0.012 * page.data.kinematics.rows.extent, ball = new THREE.SphereGeometry(size, 12, 8), paint = new THREE.MeshStandardMaterial({ color: "#D55E00" });
  const balls = test.points.map(() => new THREE.Mesh(ball, paint)), stakes = test.points.map(() => new THREE.Mesh(new THREE.CylinderGeometry(0.3 * size, 0.3 * size, 1, 8), paint));
  const marks = new THREE.Group().add(...balls, ...stakes);
  marks.visible = false;
  page.stage.scene.add(marks);
  lines.visible = false;
  page.stage.scene.add(lines);
  const state = { mode: null as number | null, turn: 0 };
  const rows = test.frequencies_hz.map((hertz, k) => {
    const show = button(String(k + 1), () => choose(state.mode === k ? null : k), { "data-test-mode": k, "aria-pressed": "false" });
    const paired = test.model_hz?.[k] ?? null, mac = test.mac?.[k] ?? null;
    const row = el("tr", {}, el("td", {}, show), el("td", { class: "number" }, `${number(hertz)} Hz`), el("td", { class: "number" }, test.damping[k] === undefined ? "" : `${number(100 * test.damping[k], 3)} %`),
      el("td", { class: "number" }, paired === null ? "–" : `${number(paired)} Hz`), el("td", { class: "number" }, mac === null ? "–" : number(mac, 3)));
    return { row, show };
  });
  body.append(el("table", {}, el("tr", {}, ...["", "measured", "damping", "model", "MAC"].map((text) => el("th", {}, text))), ...rows.map(({ row }) => row)),
    button("go to the posture of the test", () => page.go(page.data.coordinates.map(({ name }, i) => test.coordinates[name] ?? page.theta[i]))));

  function choose(k: number | null): void {
    state.mode = k;
    state.turn = 0;
    rows.forEach(({ show }, i) => show.setAttribute("aria-pressed", String(i === k)));
    lines.visible = marks.visible = k !== null;
    place(0);
  }

  function place(turn: number): void {
    const k = state.mode, n = test.points.length;
    if (k === null) return;
    let largest = 0;
    for (let i = 0; i < 3 * n; i++) largest = Math.max(largest, Math.hypot(test.real.values[3 * n * k + i], test.imag.values[3 * n * k + i]));
    const scale = largest > 0 ? (page.animation.amplitude * page.data.kinematics.rows.extent) / largest : 0;
    test.points.forEach(({ place: p }, i) => {
      for (let c = 0; c < 3; c++) {
        const at = 3 * n * k + 3 * i + c;
        positions[6 * i + c] = p[c];
        positions[6 * i + 3 + c] = p[c] + scale * (test.real.values[at] * Math.cos(turn) - test.imag.values[at] * Math.sin(turn));
      }
    });
    test.points.forEach((_, i) => {
      const from = new THREE.Vector3().fromArray(positions, 6 * i), to = new THREE.Vector3().fromArray(positions, 6 * i + 3), way = to.clone().sub(from);
      balls[i].position.copy(to);
      stakes[i].position.copy(from).addScaledVector(way, 0.5);
      stakes[i].scale.y = Math.max(way.length(), 1e-9);
      stakes[i].quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.normalize());
    });
    geometry.getAttribute("position").needsUpdate = true;
    page.stage.touch();
  }
  const before = page.stage.tick;
  page.stage.tick = (seconds) => {
    const moving = before(seconds);
    if (state.mode === null) return moving;
    state.turn += 2 * Math.PI * page.animation.speed * Math.min(seconds, 0.1);
    place(state.turn);
    return true;
  };
  page.chooseTest = choose;
  return root;
}
