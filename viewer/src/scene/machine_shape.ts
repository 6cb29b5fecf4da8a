/** The drawn machine: bodies, joints and elements between them, at poses X and displaced by a shape. */

import * as THREE from "three";
import type { PageData, Part } from "../data/page_data";
import { BeamShape } from "./beam_shape";
import { PALETTE } from "./colors";
import { JointShape } from "./joint_shape";
import { LineShape } from "./line_shape";
import { feet, rail } from "./ground_shape";
import { SolidShape } from "./solid_shape";
import { carried, motionOf } from "./transform";

/** Half the smaller side of the thickest section of a body, m, so that a joint inside it stays visible. */
function across(parts: Part[]): number {
  const sides = parts.flatMap((part) => (part.kind === "beam" ? part.sections : [])).map(({ outer }) => Math.min(...[0, 1].map((k) => Math.max(...outer.map((p) => Math.abs(p[k]))))));
  return Math.max(0, ...sides);
}

export interface Look { ink: string; tint?: string; opacity?: number }

export class MachineShape {
  readonly root = new THREE.Group();
  readonly beams: { body: number; shape: BeamShape }[] = [];
  private readonly solids: { body: number; shape: SolidShape }[] = [];
  private readonly joints: JointShape[] = [];
  private readonly lines: LineShape[] = [];
  private readonly clouds: { body: number; points: THREE.Points; base: Float32Array; motion: Float64Array; part: { motion: { shape: number[]; values: Float64Array }; nodes: { values: Float64Array } } }[] = [];
  private readonly groups: THREE.Group[] = [];
  private readonly triads: { group: THREE.Object3D; at: number[]; motion: Float64Array; data: PageData["scene"]["places"][number] }[] = [];
  private X: Float64Array;
  private factor = 0;

  constructor(readonly data: PageData, size: number, look: Look) {
    const { scene, kinematics } = data, ground = scene.bodies.length;
    this.X = kinematics.rest.X.values;
    const planar = scene.letters.length === 2;
    const ghost = new THREE.MeshBasicMaterial({ color: "#888888", transparent: true, opacity: 0.16, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
    for (let b = 0; b <= ground; b++) {
      const group = new THREE.Group();
      group.matrixAutoUpdate = false;
      group.userData.label = scene.bodies[b]?.name ?? "ground";
      this.groups.push(group);
      this.root.add(group);
    }
    scene.bodies.forEach((body, b) => {
      const material = new THREE.MeshStandardMaterial({
        color: look.tint ?? PALETTE[body.color % PALETTE.length], roughness: 0.6, metalness: 0.05, side: THREE.DoubleSide,
        transparent: look.opacity !== undefined, opacity: look.opacity ?? 1,
      });
      for (const part of body.parts) {
        if (part.kind === "beam") {
          const shape = new BeamShape(part, material, ghost);
          this.beams.push({ body: b, shape });
          this.groups[b].add(shape.mesh, shape.ghost);
        } else if (part.kind === "solid") {
          const faint = material.clone(); // for the surroundings of the nodes of a superelement
          [faint.transparent, faint.opacity, faint.depthWrite] = [true, 0.3, false];
          const shape = new SolidShape(part, part.faint ? faint : material, 0.55 * size);
          this.solids.push({ body: b, shape });
          this.groups[b].add(shape.mesh);
        } else {
          const base = Float32Array.from(part.at.values), geometry = new THREE.BufferGeometry();
          geometry.setAttribute("position", new THREE.BufferAttribute(base.slice(), 3));
          const points = new THREE.Points(geometry, new THREE.PointsMaterial({ color: material.color, size: 1.4 * size }));
          this.clouds.push({ body: b, points, base, motion: new Float64Array(2 * base.length), part });
          this.groups[b].add(points);
        }
      }
    });
    const ink = new THREE.Color(look.ink);
    for (const joint of scene.joints) {
      const shape = new JointShape(joint, ground, Math.max(0.62 * size, ...joint.bodies.map((b) => 0.58 * across(scene.bodies[b]?.parts ?? []))), planar, look.tint ? new THREE.Color(look.tint) : ink);
      shape.group.userData.label = `${joint.name}: ${joint.kind}${joint.actuators.length ? `, driven by ${joint.actuators.join(", ")}` : ""}${joint.elastic ? ", elastic" : ""}`;
      this.joints.push(shape);
      this.groups[shape.body].add(shape.group);
    }
    for (const line of scene.lines) {
      const shape = new LineShape(line, 0.62 * size, ink);
      shape.group.userData.label = `${line.name}: ${{ actuators: "actuator", springs: "spring", dampers: "damper" }[line.section]}`;
      this.lines.push(shape);
      this.root.add(shape.group);
    }
    for (const foot of feet(data, size, planar, new THREE.Color("#8a929c"))) this.groups[ground].add(foot);
    for (const guide of scene.guides) this.groups[ground].add(rail(guide, size));
    for (const place of scene.places) {
      if (!place.frame) continue;
      const triad = new THREE.AxesHelper(3.2 * size), E = place.axes;
      triad.quaternion.setFromRotationMatrix(new THREE.Matrix4().set(E[0], E[1], E[2], 0, E[3], E[4], E[5], 0, E[6], E[7], E[8], 0, 0, 0, 0, 1));
      triad.position.set(place.at[0], place.at[1], place.at[2]);
      (triad.material as THREE.Material).depthTest = false;
      triad.renderOrder = 5;
      this.groups[place.body].add(triad);
      this.triads.push({ group: triad, at: place.at, motion: new Float64Array(6), data: place });
    }
    this.pose(this.X);
  }

  showFrames(shown: boolean): void {
    for (const { group } of this.triads) group.visible = shown;
  }

  /** Move bodies to X (bodies + 1, 12). */
  pose(X: Float64Array): void {
    this.X = X;
    this.groups.forEach((group, b) => {
      const o = 12 * b;
      group.matrix.set(
        X[o + 3], X[o + 4], X[o + 5], X[o], X[o + 6], X[o + 7], X[o + 8], X[o + 1], X[o + 9], X[o + 10], X[o + 11], X[o + 2], 0, 0, 0, 1,
      );
      group.matrixWorldNeedsUpdate = true;
    });
    for (const line of this.lines) line.stretch(X, this.factor);
  }

  /** Apply a shape z of all bodies that stores so many J; returns its largest displacement and energy per metre. */
  shape(z: (body: number) => Float64Array | null, stored: number): { largest: number; density: number } {
    let largest = 0, density = 0;
    for (const { body, shape } of this.beams) {
      const own = z(body);
      if (!own) continue;
      shape.shape(own, stored);
      for (let s = 0; s < shape.stations; s++) {
        largest = Math.max(largest, Math.hypot(shape.motion[6 * s], shape.motion[6 * s + 1], shape.motion[6 * s + 2]));
        density = Math.max(density, shape.energy[s]);
      }
    }
    for (const { body, shape } of this.solids) shape.shape(z(body) ?? new Float64Array(0));
    for (const joint of this.joints) {
      const own = z(joint.body);
      joint.shape(own ?? new Float64Array(0));
    }
    for (const line of this.lines) line.shape(z);
    for (const cloud of this.clouds) {
      const own = z(cloud.body), { shape, values } = cloud.part.motion, size = shape[2];
      for (let i = 0; own && i < shape[0] * 6; i++) {
        let total = 0;
        for (let c = 0; c < size; c++) total += values[i * size + c] * own[c];
        cloud.motion[i] = total;
        if (i % 6 < 3) largest = Math.max(largest, Math.abs(total));
      }
    }
    for (const triad of this.triads) triad.motion.set(motionOf(triad.data.motion, z(triad.data.body)));
    for (const place of this.data.scene.places) {
      const own = motionOf(place.motion, z(place.body));
      largest = Math.max(largest, Math.hypot(own[0], own[1], own[2]));
    }
    return { largest, density };
  }

  /** Apply displacements of nodes by body, as in runs. */
  nodes(U: (body: number) => Float64Array | null): void {
    for (const { body, shape } of this.beams) {
      const own = U(body);
      if (own) shape.fromNodes(own);
      else shape.motion.fill(0);
    }
    for (const joint of this.joints) joint.fromNodes(U(joint.body));
    for (const { body, shape } of this.solids) shape.fromNodes(U(body));
    for (const line of this.lines) line.fromNodes(U);
    for (const triad of this.triads) triad.motion.set(carried(triad.data.carrier, U(triad.data.body)));
    for (const cloud of this.clouds) {
      const own = U(cloud.body);
      cloud.motion.fill(0);
      cloud.part.nodes.values.forEach((node, i) => own && cloud.motion.set(own.subarray(6 * node, 6 * node + 6), 6 * i));
    }
  }

  displace(factor: number): void {
    this.factor = factor;
    for (const { shape } of this.beams) shape.displace(factor);
    for (const { shape } of this.solids) {
      shape.displace(factor);
      shape.mesh.matrixWorldNeedsUpdate = true;
    }
    for (const joint of this.joints) joint.displace(factor);
    for (const line of this.lines) line.stretch(this.X, factor);
    for (const { group, at, motion } of this.triads) {
      group.position.set(at[0] + factor * motion[0], at[1] + factor * motion[1], at[2] + factor * motion[2]);
    }
    for (const { points, base, motion } of this.clouds) {
      const position = points.geometry.getAttribute("position") as THREE.BufferAttribute, out = position.array as Float32Array;
      for (let i = 0; i < base.length; i++) out[i] = base[i] + factor * motion[6 * Math.floor(i / 3) + (i % 3)];
      position.needsUpdate = true;
    }
  }

  /** Colour beams by energy, up to `largest` J/m; or in their own colours. */
  paint(largest: number | null, ghosts: boolean): void {
    for (const { shape } of this.beams) {
      shape.paint(largest);
      shape.ghost.visible = ghosts;
    }
  }

  /** Bounding box at the present poses. */
  bounds(): THREE.Box3 {
    (this.root.parent ?? this.root).updateMatrixWorld(true);
    return new THREE.Box3().setFromObject(this.root);
  }
}
