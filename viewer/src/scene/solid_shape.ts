/** A rigid body: the solid around its places. Two of them make a rod, more a plate or a block. */

import * as THREE from "three";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import type { SolidPart } from "../data/page_data";
import { carried, motionOf } from "./transform";

export class SolidShape {
  readonly mesh: THREE.Mesh;
  private readonly motion = new Float64Array(6);

  constructor(readonly part: SolidPart, material: THREE.Material, radius: number) {
    const points = part.points.values, skin = new THREE.IcosahedronGeometry(radius, 1).getAttribute("position");
    const around: THREE.Vector3[] = [];
    for (let i = 0; i < part.points.shape[0]; i++) {
      for (let k = 0; k < skin.count; k++) {
        around.push(new THREE.Vector3(points[3 * i] + skin.getX(k), points[3 * i + 1] + skin.getY(k), points[3 * i + 2] + skin.getZ(k)));
      }
    }
    this.mesh = new THREE.Mesh(new ConvexGeometry(around), material);
    this.mesh.matrixAutoUpdate = false;
  }

  shape(z: Float64Array): void {
    this.motion.set(motionOf(this.part.motion, z));
  }

  fromNodes(U: Float64Array | null): void {
    this.motion.set(carried(this.part.carrier, U));
  }

  /** p + f (u + φ × (p - about)), linear like the motion. */
  displace(factor: number): void {
    const [u, v, w, a, b, c] = this.motion.map((x) => factor * x), [x, y, z] = this.part.about;
    this.mesh.matrix.set(
      1, -c, b, u + c * y - b * z,
      c, 1, -a, v - c * x + a * z,
      -b, a, 1, w + b * x - a * y,
      0, 0, 0, 1,
    );
  }
}
