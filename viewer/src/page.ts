/** State of the page: machine at a posture, modes and animation; panels listen to its changes. */

import type { PageData } from "./data/page_data";
import type { Position } from "./kinematics/closure";
import { Machine, type Reached } from "./machine";
import { MachineShape } from "./scene/machine_shape";
import { Stage } from "./scene/stage";
import { placed, turnedAxes } from "./scene/transform";
import { colors, type Theme } from "./theme";
import type { Modes } from "./vibration/modes";

export type Change = "posture" | "modes" | "animation" | "theme" | "message" | "time";

export interface Animation { mode: number | null; amplitude: number; phase: number; speed: number; paused: boolean }

export class Page {
  readonly machine: Machine;
  readonly stage: Stage;
  readonly shape: MachineShape;
  readonly size: number;
  theta: number[];
  position: Position;
  modes: Modes | null = null;
  message = "";
  theme: Theme;
  spacing = 1;
  /** Elastic energy per metre at the top of the colour bar, J/m for 1 J in the mode; null without a mode. */
  density: number | null = null;
  /** Largest displacement of the mode as drawn, m. */
  drawnAs = 0;
  /** Times, ms: loops and modes of the last change of posture, and the surface motion of the last frame. */
  cost = { closure: 0, modes: 0, shape: 0 };
  animation: Animation = { mode: null, amplitude: 0.06, phase: 0, speed: 0.7, paused: false };
  /** Shows a mode of the measured test, if there is one. */
  chooseTest: (k: number | null) => void = () => undefined;
  /** True if runs are shown instead of the posture of the sliders. */
  playing = false;
  private turn = 0;
  private unit = 0;
  private stale = true;
  private readonly listeners: [Change, () => void][] = [];

  constructor(readonly data: PageData, canvas: HTMLCanvasElement, theme: Theme) {
    this.theme = theme;
    this.machine = new Machine(data);
    const rest = data.coordinates.map((c) => c.rest);
    this.theta = rest;
    this.position = this.machine.closure.close(rest);
    const planar = data.scene.letters.length === 2;
    this.stage = new Stage(canvas, data.scene.axes, planar);
    this.size = thickness(data);
    this.shape = new MachineShape(data, this.size, { ink: "#4a4f57" });
    this.stage.world.add(this.shape.root);
    this.stage.tick = (seconds) => this.tick(seconds);
    if (data.at) this.go(data.at);
    else this.placed();
    this.applyTheme(theme);
    this.stage.fit(this.shape.bounds());
    this.applyTheme(theme);
  }

  on(change: Change, listener: () => void): void {
    this.listeners.push([change, listener]);
  }

  tell(change: Change): void {
    for (const [wanted, listener] of this.listeners) if (wanted === change) listener();
    this.stage.touch();
  }

  applyTheme(theme: Theme): void {
    this.theme = theme;
    const c = colors(theme);
    this.stage.renderer.setClearColor(c.stage);
    const box = this.shape.bounds();
    this.spacing = this.stage.ground(box, c.gridStrong, c.grid);
    this.tell("theme");
  }

  /** Move to θ, or as close as a dead point or a limit permits. */
  go(theta: ArrayLike<number>): Reached {
    const begin = performance.now(), found = this.machine.at(theta, this.theta);
    this.cost.closure = performance.now() - begin;
    this.theta = found.theta;
    this.position = found.position;
    this.message = found.message;
    this.playing = false;
    this.placed();
    this.tell("message");
    return found;
  }

  /** State of a run: coordinates, and poses that may be deformed; modes are those of the undeformed posture. */
  follow(theta: number[], X: Float64Array): void {
    if (!this.playing) this.animate({ mode: null });
    this.playing = true;
    this.theta = theta;
    this.position = { ...this.position, X };
    this.stale = true;
    this.tell("posture");
  }

  private placed(): void {
    this.shape.pose(this.position.X);
    this.stale = true;
    this.tell("posture");
  }

  /** Modes at the present posture. */
  freshModes(): Modes | null {
    if (!this.stale) return this.modes;
    this.stale = false;
    const begin = performance.now();
    const before = this.modes;
    this.modes = this.machine.modes(this.playing ? this.machine.closure.close(this.theta) : this.position);
    if (before && this.modes) alike(before, this.modes);
    this.cost.modes = performance.now() - begin;
    this.takeShape();
    this.tell("modes");
    return this.modes;
  }

  animate(change: Partial<Animation>): void {
    const before = this.animation.mode;
    this.animation = { ...this.animation, ...change };
    if (change.phase !== undefined) this.turn = 0;
    if (this.animation.mode !== before) {
      this.turn = 0;
      this.freshModes();
      this.takeShape();
    }
    this.moveShape();
    this.tell("animation");
  }

  /** z of a body in the mode shown. */
  private takeShape(): void {
    if (this.playing) return;
    const { mode } = this.animation, modes = this.modes, vibration = this.data.vibration;
    if (mode === null || !modes || !vibration || mode >= modes.count) {
      this.unit = 0;
      this.density = null;
      this.shape.paint(null, false);
      this.shape.displace(0);
      return;
    }
    const n = vibration.size, z = modes.shapes.subarray(mode * n, (mode + 1) * n);
    const found = this.shape.shape((body) => {
      const own = vibration.bodies[body];
      return own ? z.subarray(own[0], own[0] + own[1]) : null;
    }, 0.5 * modes.elastic[mode]);
    this.unit = found.largest > 0 ? 1 / found.largest : 0;
    this.density = found.density;
    this.shape.paint(found.density, true);
    this.moveShape();
  }

  private moveShape(): void {
    if (this.playing) return;
    const { amplitude, phase, mode } = this.animation;
    this.drawnAs = amplitude * this.data.kinematics.rows.extent;
    const begin = performance.now();
    this.shape.displace(mode === null ? 0 : this.unit * this.drawnAs * Math.cos(phase + this.turn));
    this.cost.shape = performance.now() - begin;
    this.stage.touch();
  }

  private tick(seconds: number): boolean {
    if (this.playing) return false;
    if (this.stale) this.freshModes();
    const { mode, paused, speed } = this.animation;
    if (mode === null || paused) return false;
    this.turn += 2 * Math.PI * speed * Math.min(seconds, 0.1);
    this.moveShape();
    return true;
  }

  /** World pose of a frame, point or body, as from `assemble`. */
  frame(name: string): { position: number[]; rotation: number[][] } {
    const place = this.data.scene.places.find((item) => item.name === name);
    if (!place) throw new Error(`there is no place "${name}"`);
    const P = this.data.scene.axes, X = this.position.X, p = placed(X, place.body, place.at), R = turnedAxes(X, place.body, place.axes);
    const row = (M: ArrayLike<number>, r: number) => [M[3 * r], M[3 * r + 1], M[3 * r + 2]];
    const dot = (a: number[], b: number[]) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const PR = [0, 1, 2].map((r) => [0, 1, 2].map((c) => dot(row(P, r), [R[c], R[3 + c], R[6 + c]])));
    return {
      position: [0, 1, 2].map((r) => dot(row(P, r), p)),
      rotation: PR.map((line) => [0, 1, 2].map((c) => dot(line, row(P, c)))),
    };
  }
}

/** Keep the signs of the modes, which are arbitrary, so that an animation continues smoothly. */
function alike(before: Modes, now: Modes): void {
  const n = now.shapes.length / Math.max(now.count, 1);
  for (let k = 0; k < Math.min(before.count, now.count); k++) {
    let share = 0;
    for (let c = k * n; c < (k + 1) * n; c++) share += before.shapes[c] * now.shapes[c];
    if (share < 0) for (let c = k * n; c < (k + 1) * n; c++) now.shapes[c] = -now.shapes[c];
  }
}

/** Radius of joints and rods: small relative to the machine, and not larger than the distances of its bodies. */
function thickness(data: PageData): number {
  return 0.016 * data.kinematics.rows.extent;
}
