/** Supports on the ground: a foot at each place on the ground, and rails under its slides. */

import * as THREE from "three";
import type { GuideData, PageData } from "../data/page_data";

/** Cones under joints and cylinders on the ground; they hang if gravity, or z, points away from them. */
export function feet(data: PageData, size: number, planar: boolean, color: THREE.Color): THREE.Object3D[] {
  const ground = data.scene.bodies.length, found: number[][] = [], g = data.scene.gravity;
  const down = g && Math.hypot(...g) > 0 ? new THREE.Vector3(g[0], g[1], g[2]).normalize() : new THREE.Vector3(0, planar ? -1 : 0, planar ? 0 : -1);
  const railed = new Set(data.scene.guides.map(({ joint }) => joint));
  for (const { name, bodies, at } of data.scene.joints) {
    if (!railed.has(name)) bodies.forEach((body, i) => body === ground && found.push(at[i]));
  }
  for (const { ends } of data.scene.lines) for (const { body, at } of ends) if (body === ground) found.push(at);
  const distinct = found.filter((p, i) => found.findIndex((q) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) < 0.2 * size) === i);
  const material = new THREE.MeshStandardMaterial({ color, roughness: 0.9 }), rows: THREE.Object3D[] = [];
  for (const p of distinct) {
    const cone = new THREE.Mesh(new THREE.CylinderGeometry(0.45 * size, 1.5 * size, 1.9 * size, 4), material);
    const plate = new THREE.Mesh(new THREE.BoxGeometry(3 * size, 0.35 * size, 3 * size), material);
    plate.position.y = -1.1 * size;
    cone.rotation.y = Math.PI / 4;
    const foot = new THREE.Group().add(cone, plate);
    foot.quaternion.setFromUnitVectors(new THREE.Vector3(0, -1, 0), down);
    foot.position.set(p[0], p[1], p[2]).addScaledVector(down, 1.1 * size);
    rows.push(foot);
  }
  return rows;
}

/** The rail of a slide on the ground. */
export function rail({ interval, at, axis }: GuideData, size: number): THREE.Object3D {
  const length = Math.max(interval[1] - interval[0], size), way = new THREE.Vector3(axis[0], axis[1], axis[2]);
  const mesh = new THREE.Mesh(new THREE.BoxGeometry(0.7 * size, length, 0.7 * size), new THREE.MeshStandardMaterial({ color: "#8a929c", roughness: 0.8 }));
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.clone().normalize());
  mesh.position.set(at[0], at[1], at[2]).addScaledVector(way, 0.5 * (interval[0] + interval[1]));
  return mesh;
}
