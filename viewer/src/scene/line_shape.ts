/** Elements between two places: cylinders with barrel and rod, springs as coils, dampers as dashes. */

import * as THREE from "three";
import type { LineData } from "../data/page_data";
import { DRIVEN } from "./colors";
import { carried, motionOf, placed, type Vector } from "./transform";

const Y = new THREE.Vector3(0, 1, 0);

export class LineShape {
  readonly group = new THREE.Group();
  private readonly motions = [new Float64Array(6), new Float64Array(6)];
  private readonly pieces: { mesh: THREE.Object3D; from: number; to: number }[] = [];

  constructor(readonly line: LineData, size: number, ink: THREE.Color) {
    const solid = (color: THREE.ColorRepresentation) => new THREE.MeshStandardMaterial({ color, roughness: 0.5, metalness: 0.15 });
    const tube = (radius: number, color: THREE.ColorRepresentation) => new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 1, 20), solid(color));
    if (line.section === "actuators") {
      this.add(tube(0.55 * size, ink), 0, 1);
      this.add(tube(size, DRIVEN), 0, 0.58);
    } else if (line.section === "springs") {
      this.add(new THREE.Mesh(coil(0.9 * size, 0.18 * size), solid("#009E73")), 0, 1);
    } else {
      this.add(tube(0.3 * size, ink), 0, 1);
      this.add(tube(0.85 * size, "#7A7A7A"), 0.35, 0.65);
    }
  }

  private add(mesh: THREE.Object3D, from: number, to: number): void {
    this.pieces.push({ mesh, from, to });
    this.group.add(mesh);
  }

  shape(z: (body: number) => Float64Array | null): void {
    this.line.ends.forEach((end, i) => this.motions[i].set(motionOf(end.motion, z(end.body))));
  }

  fromNodes(U: (body: number) => Float64Array | null): void {
    this.line.ends.forEach((end, i) => this.motions[i].set(carried(end.carrier, U(end.body))));
  }

  /** Draw between its two places at poses X, displaced by factor times their motion. */
  stretch(X: Float64Array, factor: number): void {
    const [a, b] = this.line.ends.map((end, i) => {
      const m = this.motions[i], local: Vector = [end.at[0] + factor * m[0], end.at[1] + factor * m[1], end.at[2] + factor * m[2]];
      return new THREE.Vector3(...placed(X, end.body, local));
    });
    const way = b.clone().sub(a), length = way.length() || 1e-9, turn = new THREE.Quaternion().setFromUnitVectors(Y, way.clone().divideScalar(length));
    for (const { mesh, from, to } of this.pieces) {
      mesh.position.copy(a).addScaledVector(way, 0.5 * (from + to));
      mesh.quaternion.copy(turn);
      mesh.scale.set(1, length * (to - from), 1);
    }
  }
}

/** A coil of unit length along y. */
function coil(radius: number, wire: number): THREE.BufferGeometry {
  const points = Array.from({ length: 129 }, (_, i) => {
    const turn = (2 * Math.PI * 8 * i) / 128;
    return new THREE.Vector3(radius * Math.cos(turn), i / 128 - 0.5, radius * Math.sin(turn));
  });
  return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 160, wire, 6);
}
