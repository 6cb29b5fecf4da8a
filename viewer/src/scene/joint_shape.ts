/** Symbols of joints by kind, with z as the axis; orange if an actuator drives the joint. */

import * as THREE from "three";
import type { JointData } from "../data/page_data";
import { DRIVEN } from "./colors";
import { carried, motionOf } from "./transform";

/** Geometry of each kind, for unit size; unknown kinds are octahedra. */
const SYMBOLS: Record<string, () => THREE.BufferGeometry[]> = {
  revolute: () => [upright(new THREE.CylinderGeometry(1, 1, 2.2, 24))],
  prismatic: () => [new THREE.BoxGeometry(1.7, 1.7, 2.8)],
  cylindrical: () => [upright(new THREE.CylinderGeometry(0.85, 0.85, 3.4, 24)), upright(new THREE.CylinderGeometry(1.2, 1.2, 0.5, 24))],
  screw: () => [upright(new THREE.CylinderGeometry(0.7, 0.7, 3.4, 24)), ...[-1, -0.33, 0.33, 1].map((z) => new THREE.TorusGeometry(0.85, 0.22, 8, 24).translate(0, 0, z))],
  universal: () => [upright(new THREE.CylinderGeometry(0.5, 0.5, 2.6, 16)), new THREE.CylinderGeometry(0.5, 0.5, 2.6, 16), new THREE.SphereGeometry(0.9, 20, 14)],
  spherical: () => [new THREE.SphereGeometry(1.15, 24, 16)],
  planar: () => [upright(new THREE.CylinderGeometry(1.7, 1.7, 0.5, 32))],
  weld: () => [new THREE.BoxGeometry(1.3, 1.3, 1.3)],
};

function upright(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return geometry.rotateX(Math.PI / 2);
}

export class JointShape {
  readonly group = new THREE.Group();
  readonly body: number;
  private readonly at: number[];
  private readonly end: number;
  private readonly motion = new Float64Array(6);

  constructor(readonly joint: JointData, ground: number, size: number, planar: boolean, ink: THREE.Color) {
    this.end = joint.bodies[1] === ground ? 0 : 1;
    this.body = joint.bodies[this.end];
    this.at = joint.at[this.end];
    const [color, scale] = joint.actuators.length ? [new THREE.Color(DRIVEN), 1.15 * size] : [ink, size];
    const material = new THREE.MeshStandardMaterial({ color, roughness: 0.55, metalness: 0.1 });
    const made = (SYMBOLS[joint.kind] ?? (() => [new THREE.OctahedronGeometry(1.3)]))();
    for (const geometry of made) this.group.add(new THREE.Mesh(geometry, material));
    const E = joint.axes[this.end];
    const turn = new THREE.Matrix4().set(E[0], E[1], E[2], 0, E[3], E[4], E[5], 0, E[6], E[7], E[8], 0, 0, 0, 0, 1);
    if (planar && joint.kind === "prismatic") turn.multiply(new THREE.Matrix4().makeRotationY(Math.PI / 2)); // it slides along x
    this.group.quaternion.setFromRotationMatrix(turn);
    this.group.scale.setScalar(scale);
    this.displace(0);
  }

  shape(z: Float64Array): void {
    this.motion.set(motionOf(this.joint.motions[this.end], z));
  }

  fromNodes(U: Float64Array | null): void {
    this.motion.set(carried(this.joint.carriers[this.end], U));
  }

  displace(factor: number): void {
    const [x, y, z] = this.at, m = this.motion;
    this.group.position.set(x + factor * m[0], y + factor * m[1], z + factor * m[2]);
  }
}
