/** Camera, light, ground, scale and gravity. */

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const FRAMES = 60, ROOM = 0.84; // share of the picture that the machine fills

export type View = "home" | "front" | "top" | "side";

export class Stage {
  readonly scene = new THREE.Scene();
  /** Everything in drawing axes; rotated into the world by those of the plane. */
  readonly world = new THREE.Group();
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly renderer: THREE.WebGLRenderer;
  readonly costs: number[] = [];
  private fitted: [THREE.Box3, View] | null = null;
  private grid: THREE.GridHelper | null = null;
  private dirty = true;
  /** Called before every frame; returns true while something moves by itself. */
  tick: (seconds: number) => boolean = () => false;
  private readonly followers: (() => void)[] = [];

  constructor(readonly canvas: HTMLCanvasElement, axes: number[], readonly planar: boolean) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    const P = axes;
    this.world.matrixAutoUpdate = false;
    this.world.matrix.set(P[0], P[1], P[2], 0, P[3], P[4], P[5], 0, P[6], P[7], P[8], 0, 0, 0, 0, 1);
    this.world.matrixWorldNeedsUpdate = true;
    this.scene.add(this.world);
    this.scene.add(new THREE.HemisphereLight("#ffffff", "#8a8f98", 1.6));
    const sun = new THREE.DirectionalLight("#ffffff", 1.9);
    sun.position.set(0.4, 0.3, 1);
    this.camera.add(sun);
    this.scene.add(this.camera);
    this.camera.up.copy(planar ? this.axis(1) : new THREE.Vector3(0, 0, 1));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.touch());
    this.controls.addEventListener("start", () => (this.fitted = null)); // from now on the user controls the camera
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    let last = performance.now();
    const loop = (now: number) => {
      const moving = this.tick((now - last) / 1000);
      last = now;
      if (moving || this.dirty) this.draw();
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  /** Direction of a drawing axis in the world: 0, 1, or 2, the normal of a plane. */
  axis(k: number): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixColumn(this.world.matrix, k).normalize();
  }

  /** Called after every frame. */
  onDraw(listener: () => void): void {
    this.followers.push(listener);
  }

  touch(): void {
    this.dirty = true;
  }

  draw(): void {
    const begin = performance.now();
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
    this.costs.push(performance.now() - begin);
    if (this.costs.length > FRAMES) this.costs.shift();
    for (const listener of this.followers) listener();
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement!;
    if (w === 0 || h === 0) return;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    if (this.fitted) this.fit(...this.fitted);
    this.touch();
  }

  /** Show everything in a box; a planar mechanism from its front, a spatial one from above. */
  fit(box: THREE.Box3, view: View = "home"): void {
    this.fitted = [box, view];
    const center = box.getCenter(new THREE.Vector3());
    const ways = {
      home: this.planar ? this.axis(2) : new THREE.Vector3(0.62, -0.95, 0.48),
      front: this.planar ? this.axis(2) : new THREE.Vector3(0, -1, 0),
      top: this.planar ? this.axis(2).addScaledVector(this.axis(1), 0.8) : new THREE.Vector3(0, -0.001, 1),
      side: this.planar ? this.axis(2).addScaledVector(this.axis(0), 0.8) : new THREE.Vector3(1, 0, 0),
    };
    const way = ways[view].normalize(), distance = Math.max(this.distance(box, center, way), 1e-6);
    this.camera.position.copy(center).addScaledVector(way, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 20;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(center);
    this.controls.update();
    this.touch();
  }

  /** Distance along a direction from which all corners of a box are visible, with a margin. */
  private distance(box: THREE.Box3, center: THREE.Vector3, way: THREE.Vector3): number {
    const right = this.camera.up.clone().cross(way).normalize(), up = way.clone().cross(right);
    const tall = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)) * ROOM, wide = tall * this.camera.aspect;
    let found = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(center);
      found = Math.max(found, corner.dot(way) + Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(up)) / tall));
    }
    return found;
  }

  /** Grid on the ground (behind a planar mechanism) with lines `spacing` m apart; returns the spacing. */
  ground(box: THREE.Box3, line: string, faint: string): number {
    if (this.grid) this.scene.remove(this.grid);
    const size = box.getSize(new THREE.Vector3()), longest = Math.max(size.x, size.y, size.z);
    const power = 10 ** Math.floor(Math.log10(longest / 4)), spacing = [5, 2, 1].map((k) => k * power).find((s) => s <= longest / 4) ?? power;
    const cells = 2 * Math.ceil((0.95 * longest) / spacing);
    this.grid = new THREE.GridHelper(cells * spacing, cells, line, faint);
    const center = box.getCenter(new THREE.Vector3());
    if (this.planar) {
      const normal = this.axis(2);
      this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
      const snapped = center.clone().divideScalar(spacing).round().multiplyScalar(spacing);
      this.grid.position.copy(snapped).addScaledVector(normal, -snapped.dot(normal) + box.min.dot(normal) - 0.02 * longest - Math.abs(size.dot(normal)));
    } else {
      this.grid.rotation.x = Math.PI / 2;
      this.grid.position.set(Math.round(center.x / spacing) * spacing, Math.round(center.y / spacing) * spacing, box.min.z - 0.06 * longest);
    }
    this.scene.add(this.grid);
    this.touch();
    return spacing;
  }

  /** Pixel position of a place of the drawing on the canvas; null behind the camera. */
  project(p: [number, number, number]): [number, number] | null {
    const v = new THREE.Vector3(...p).applyMatrix4(this.world.matrix).project(this.camera);
    if (v.z > 1) return null;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [(0.5 + 0.5 * v.x) * w, (0.5 - 0.5 * v.y) * h];
  }
}
