/** A beam as its section swept along its axis; displaced and coloured by its stations. */

import * as THREE from "three";
import type { BeamPart, Outline } from "../data/page_data";
import { viridis } from "./colors";

const SMOOTH = 12; // points of an outline from which on it is shaded as round

interface Column { y: number; z: number; ny: number; nz: number }

export class BeamShape {
  readonly mesh: THREE.Mesh;
  readonly ghost: THREE.Mesh;
  readonly stations: number;
  /** (stations, 6) displacements of the shape for a unit factor; and J/m for each. */
  readonly motion: Float64Array;
  readonly energy: Float64Array;
  private readonly base: Float32Array;
  private readonly station: Int32Array;
  private readonly geometry = new THREE.BufferGeometry();
  private readonly plain: THREE.Color;

  constructor(readonly part: BeamPart, material: THREE.MeshStandardMaterial, ghost: THREE.Material) {
    this.stations = part.at.shape[0];
    this.motion = new Float64Array(6 * this.stations);
    this.energy = new Float64Array(this.stations);
    this.plain = material.color;
    const built = swept(part);
    this.base = built.positions;
    this.station = built.stations;
    this.geometry.setAttribute("position", new THREE.BufferAttribute(built.positions.slice(), 3));
    this.geometry.setAttribute("normal", new THREE.BufferAttribute(built.normals, 3));
    this.geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(built.positions.length).fill(1), 3));
    this.geometry.setIndex(built.index);
    const own = material.clone();
    own.vertexColors = true;
    own.color.set("#ffffff");
    this.mesh = new THREE.Mesh(this.geometry, own);
    this.mesh.frustumCulled = false;
    const still = new THREE.BufferGeometry();
    still.setAttribute("position", new THREE.BufferAttribute(built.positions, 3));
    still.setIndex(built.index);
    this.ghost = new THREE.Mesh(still, ghost);
    this.ghost.visible = false;
    this.paint(null);
  }

  /** Motion of the stations in a shape z of the body; energies for 1 J in total, of a shape that stores `stored` J. */
  shape(z: Float64Array, stored: number): void {
    const { motion, strain } = this.part;
    if (!motion || !strain) return;
    const size = motion.shape[2];
    for (let s = 0; s < this.stations; s++) {
      let density = 0;
      for (let k = 0; k < 6; k++) {
        let moved = 0, strained = 0;
        const at = (6 * s + k) * size;
        for (let c = 0; c < size; c++) {
          moved += motion.values[at + c] * z[c];
          strained += strain.values[at + c] * z[c];
        }
        this.motion[6 * s + k] = moved;
        density += 0.5 * strained * strained;
      }
      this.energy[s] = stored > 0 ? density / stored : 0;
    }
  }

  /** The same from displacements (nodes, 6) of the nodes of its body: linear along an element, cubic across. */
  fromNodes(U: Float64Array): void {
    const { nodes, xi, ways, arms } = this.part;
    if (!nodes || !xi || !ways || !arms) return;
    const ends = [new Float64Array(6), new Float64Array(6)];
    for (let s = 0; s < this.stations; s++) {
      const t = xi.values[s], w = ways.values.subarray(3 * s, 3 * s + 3);
      const L = Math.hypot(w[0], w[1], w[2]);
      for (let e = 0; e < 2; e++) {
        const at = 6 * nodes.values[2 * s + e], arm = arms.values.subarray(6 * s + 3 * e, 6 * s + 3 * e + 3), u = ends[e];
        for (let k = 0; k < 6; k++) u[k] = U[at + k];
        u[0] += u[4] * arm[2] - u[5] * arm[1];
        u[1] += u[5] * arm[0] - u[3] * arm[2];
        u[2] += u[3] * arm[1] - u[4] * arm[0];
      }
      const cubic = [1 - 3 * t * t + 2 * t ** 3, 3 * t * t - 2 * t ** 3], slope = [t - 2 * t * t + t ** 3, t ** 3 - t * t];
      const out = this.motion.subarray(6 * s, 6 * s + 6);
      out.fill(0);
      for (let e = 0; e < 2; e++) {
        const u = ends[e], share = e ? t : 1 - t;
        const along = (u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) / (L * L);
        const turn = [u[4] * w[2] - u[5] * w[1], u[5] * w[0] - u[3] * w[2], u[3] * w[1] - u[4] * w[0]]; // φ × direction
        for (let k = 0; k < 3; k++) {
          out[k] += share * along * w[k] + cubic[e] * (u[k] - along * w[k]) + slope[e] * turn[k];
          out[3 + k] += share * u[3 + k];
        }
      }
    }
  }

  /** Move every point of the surface by factor times its station's motion. */
  displace(factor: number): void {
    const at = this.part.at.values, position = this.geometry.getAttribute("position") as THREE.BufferAttribute;
    const out = position.array as Float32Array, { base, station, motion } = this;
    for (let i = 0; i < station.length; i++) {
      const s = station[i], m = 6 * s, p = 3 * i;
      const x = base[p] - at[3 * s], y = base[p + 1] - at[3 * s + 1], z = base[p + 2] - at[3 * s + 2];
      out[p] = base[p] + factor * (motion[m] + motion[m + 4] * z - motion[m + 5] * y);
      out[p + 1] = base[p + 1] + factor * (motion[m + 1] + motion[m + 5] * x - motion[m + 3] * z);
      out[p + 2] = base[p + 2] + factor * (motion[m + 2] + motion[m + 3] * y - motion[m + 4] * x);
    }
    position.needsUpdate = true;
  }

  /** Colour by energy relative to a given maximum, or in the body's own colour. */
  paint(largest: number | null): void {
    const color = this.geometry.getAttribute("color") as THREE.BufferAttribute, out = color.array as Float32Array;
    const work = new THREE.Color();
    for (let i = 0; i < this.station.length; i++) {
      if (largest === null) work.copy(this.plain);
      else work.setRGB(...viridis(largest > 0 ? this.energy[this.station[i]] / largest : 0), THREE.SRGBColorSpace);
      out[3 * i] = work.r;
      out[3 * i + 1] = work.g;
      out[3 * i + 2] = work.b;
    }
    color.needsUpdate = true;
  }
}

/** Points of an outline: two per corner with the normals of both sides, one per point of a round outline. */
function columns(points: number[][], inward: boolean): Column[][] {
  const n = points.length, round = n >= SMOOTH, sides: Column[][] = [];
  const normal = (i: number): [number, number] => {
    const [a, b] = [points[i % n], points[(i + 1) % n]], y = b[0] - a[0], z = b[1] - a[1], size = Math.hypot(y, z) || 1;
    return inward ? [-z / size, y / size] : [z / size, -y / size];
  };
  for (let i = 0; i < n; i++) {
    const own = normal(i);
    const pair = [i, i + 1].map((k) => {
      const [y, z] = points[k % n], before = normal((k + n - 1) % n), after = normal(k % n);
      const [ny, nz] = round ? [(before[0] + after[0]) / 2, (before[1] + after[1]) / 2] : own;
      return { y, z, ny, nz };
    });
    sides.push(pair);
  }
  return sides;
}

function between(sections: Outline[], t: number, which: "outer" | "inner"): number[][] | undefined {
  const a = sections[0][which], b = (sections[1] ?? sections[0])[which];
  if (!a || !b || a.length !== b.length) return a;
  return a.map(([y, z], i) => [y + t * (b[i][0] - y), z + t * (b[i][1] - z)]);
}

function swept(part: BeamPart) {
  const at = part.at.values, k = part.at.shape[0], R = part.axes.values;
  const positions: number[] = [], normals: number[] = [], stations: number[] = [], index: number[] = [];
  const point = (s: number, y: number, z: number) => [0, 1, 2].map((r) => at[3 * s + r] + R[3 * r + 1] * y + R[3 * r + 2] * z);
  const first = at.subarray(0, 3), last = at.subarray(3 * k - 3);
  const total = Math.hypot(last[0] - first[0], last[1] - first[1], last[2] - first[2]) || 1;
  const share = (s: number) => Math.hypot(at[3 * s] - first[0], at[3 * s + 1] - first[1], at[3 * s + 2] - first[2]) / total;
  for (const which of ["outer", "inner"] as const) {
    if (!between(part.sections, 0, which)) continue;
    const rings = Array.from({ length: k }, (_, s) => columns(between(part.sections, share(s), which)!, which === "inner"));
    for (let side = 0; side < rings[0].length; side++) {
      const begin = positions.length / 3;
      for (let s = 0; s < k; s++) {
        for (const { y, z, ny, nz } of rings[s][side]) {
          positions.push(...point(s, y, z));
          normals.push(...[0, 1, 2].map((r) => R[3 * r + 1] * ny + R[3 * r + 2] * nz));
          stations.push(s);
        }
      }
      for (let s = 0; s + 1 < k; s++) {
        const i = begin + 2 * s;
        if (which === "outer") index.push(i, i + 1, i + 2, i + 1, i + 3, i + 2);
        else index.push(i, i + 2, i + 1, i + 1, i + 2, i + 3);
      }
    }
  }
  for (const [s, sign] of [[0, -1], [k - 1, 1]]) { // caps
    const outer = between(part.sections, share(s), "outer")!, inner = between(part.sections, share(s), "inner");
    const loops = [outer, ...(inner ? [inner] : [])].map((loop) => loop.map(([y, z]) => new THREE.Vector2(y, z)));
    const begin = positions.length / 3;
    for (const { x, y } of loops.flat()) {
      positions.push(...point(s, x, y));
      normals.push(...[0, 1, 2].map((r) => sign * R[3 * r]));
      stations.push(s);
    }
    for (const [a, b, c] of THREE.ShapeUtils.triangulateShape(loops[0], loops.slice(1))) {
      index.push(...(sign > 0 ? [begin + a, begin + b, begin + c] : [begin + a, begin + c, begin + b]));
    }
  }
  return { positions: Float32Array.from(positions), normals: Float32Array.from(normals), stations: Int32Array.from(stations), index };
}
