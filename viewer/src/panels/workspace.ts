/** Reachable positions of a place: a cloud of points over the region, coloured by singularity or a frequency. */

import * as THREE from "three";
import type { Background } from "../background";
import { button, el, select } from "../dom";
import type { ReducedModel } from "../model/reduced_model";
import type { Page } from "../page";
import { gradient, viridis } from "../scene/colors";
import { number } from "../units";
import { movingPlaces } from "../vibration/port";
import { panel } from "./panel";

const POINTS = 1500;

export function workspacePanel(page: Page, background: Background, evaluated: ReducedModel | null): HTMLElement {
  const { root, body, hint } = panel("Workspace", false, "workspace"), { coordinates, vibration, scene } = page.data;
  const places = movingPlaces(scene);
  const quantities = ["singularity", ...Array.from({ length: vibration?.count ?? 0 }, (_, k) => `mode ${k + 1}, Hz`)], computed = quantities.length;
  const known = evaluated?.placed ? evaluated : null;
  quantities.push(...(known?.columns ?? []).map(({ label, unit }) => `${label}${unit ? `, ${unit}` : ""}`));
  const choice = { place: 0, quantity: vibration ? 1 : 0 };
  let values = new Float64Array(0), thetas = new Float64Array(0), width = 1, at = new Float64Array(0);
  const geometry = new THREE.BufferGeometry(), round = disc();
  const cloud = new THREE.Points(geometry, new THREE.PointsMaterial({ size: 0.012 * page.data.kinematics.rows.extent, vertexColors: true, map: round, alphaTest: 0.5 }));
  cloud.frustumCulled = false;
  cloud.visible = false;
  page.stage.world.add(cloud);
  const low = el("span"), high = el("span"), bar = el("div", { class: "colorbar" }, low, el("div", { style: `background:${gradient()}` }), high);
  bar.hidden = true;
  const go = button("show workspace", () => (cloud.visible ? hide() : compute()), { "aria-pressed": "false" });
  body.append(el("div", { class: "row" }, go,
    select("place", places.map(({ name }) => name), 0, (i) => { choice.place = i; if (cloud.visible) compute(); }).root,
    select("colour", quantities, choice.quantity, (i) => { choice.quantity = i; paint(); }).root), bar,
    el("p", { class: "note" }, `${POINTS} quasi-random postures within all limits that can be reached from rest.`));

  function hide(): void {
    cloud.visible = bar.hidden = true;
    cloud.visible = false;
    go.setAttribute("aria-pressed", "false");
    page.stage.touch();
  }

  function compute(): void {
    const s = coordinates.length, place = places[choice.place];
    thetas = new Float64Array(POINTS * s);
    for (let i = 0; i < POINTS; i++) coordinates.forEach((c, j) => (thetas[i * s + j] = c.low + halton(i + 1, PRIMES[j % PRIMES.length]) * (c.high - c.low)));
    cloud.visible = true;
    bar.hidden = false;
    go.setAttribute("aria-pressed", "true");
    values = new Float64Array(0);
    background.begin({ thetas, place: { body: place.body, at: place.at } }, (piece) => {
      if (!values.length) {
        width = piece.width;
        values = new Float64Array(POINTS * width).fill(NaN);
        at = new Float64Array(POINTS * 3).fill(NaN);
      }
      values.set(piece.values, piece.first * width);
      at.set(piece.places!, piece.first * 3);
      hint.textContent = piece.done ? "" : `${piece.first} of ${POINTS}`;
      paint();
    });
  }

  function paint(): void {
    const found: number[] = [], sizes: number[] = [], s = coordinates.length;
    for (let i = 0; i < at.length / 3; i++) {
      if (!Number.isFinite(at[3 * i])) continue;
      const value = choice.quantity < computed ? values[i * width + choice.quantity] : known!.evaluate(thetas.subarray(i * s, (i + 1) * s))?.[choice.quantity - computed] ?? NaN;
      if (!Number.isFinite(value)) continue;
      found.push(i);
      sizes.push(value);
    }
    const least = Math.min(...sizes), most = Math.max(...sizes);
    const positions = new Float32Array(3 * found.length), colors = new Float32Array(3 * found.length), work = new THREE.Color();
    found.forEach((i, k) => {
      positions.set(at.subarray(3 * i, 3 * i + 3), 3 * k);
      work.setRGB(...viridis(most > least ? (sizes[k] - least) / (most - least) : 0.5), THREE.SRGBColorSpace);
      colors.set([work.r, work.g, work.b], 3 * k);
    });
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
    const unit = choice.quantity >= computed ? ` ${known!.columns[choice.quantity - computed].unit}` : choice.quantity === 0 ? "" : " Hz";
    low.textContent = found.length ? `${number(least, 3)}${unit}` : "";
    high.textContent = found.length ? `${number(most, 3)}${unit}` : "";
    page.stage.touch();
  }
  return root;
}

const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19];

/** Quasi-random numbers from 0 to 1, evenly distributed. */
function halton(i: number, base: number): number {
  let found = 0;
  for (let f = 1 / base; i > 0; f /= base) {
    found += f * (i % base);
    i = Math.floor(i / base);
  }
  return found;
}

function disc(): THREE.Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const g = canvas.getContext("2d")!;
  g.fillStyle = "#ffffff";
  g.arc(16, 16, 14, 0, 2 * Math.PI);
  g.fill();
  return new THREE.CanvasTexture(canvas);
}
