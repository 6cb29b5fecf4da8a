/** The machine at a posture: loops closed, limits respected, modes computed. The page and its worker both have one. */

import type { PageData } from "./data/page_data";
import { Closure, type Position } from "./kinematics/closure";
import { rowTable, type RowTable } from "./kinematics/row_table";
import { DEAD, locked, singularity } from "./kinematics/singularity";
import { number, shown } from "./units";
import { lowestModes, type Modes } from "./vibration/modes";
import { Structure } from "./vibration/structure";

const HALVINGS = 14; // bisections between a reachable posture and an unreachable one

export interface Reached {
  theta: number[];
  position: Position;
  reached: boolean;
  message: string;
}

export class Machine {
  readonly rows: RowTable;
  readonly closure: Closure;
  readonly structure: Structure | null;
  private start: Float64Array | undefined;

  constructor(readonly data: Pick<PageData, "kinematics" | "coordinates" | "limits" | "vibration">) {
    this.rows = rowTable(data.kinematics.rows);
    this.closure = new Closure(this.rows, data.kinematics.rest);
    this.structure = data.vibration ? new Structure(data.vibration) : null;
  }

  /** θ within the limits of the coordinates. */
  within(theta: ArrayLike<number>): number[] {
    return this.data.coordinates.map((c, i) => (c.limited ? Math.min(Math.max(theta[i], c.low), c.high) : theta[i]));
  }

  /** Reason why a position is not accepted: a dead point, or a joint outside its limits; null if it is. */
  private obstacle(position: Position): "dead" | { part: string; value: number; limits: [number, number]; unit: "rad" | "m" } | null {
    if (position.reached < 1) return "dead";
    for (const { part, measure, limits, unit } of this.data.limits) {
      const value = position.w[measure], slack = 1e-9 * Math.max(Math.abs(limits[0]), Math.abs(limits[1]));
      if (value < limits[0] - slack || value > limits[1] + slack) return { part, value, limits, unit };
    }
    return null;
  }

  /** The posture at θ; or, at a dead point or a limit, the last acceptable one on the segment from `from`. */
  at(wanted: ArrayLike<number>, from: number[]): Reached {
    const theta = this.within(wanted), position = this.closure.close(theta), obstacle = this.obstacle(position);
    const clamped = theta.findIndex((value, i) => value !== wanted[i]);
    if (obstacle === null) return { theta, position, reached: clamped < 0, message: clamped < 0 ? "" : this.limitText(clamped) };
    if (obstacle === "dead" && theta.length === 1) { // the segment from rest is the only one
      const last = this.data.coordinates[0].rest + position.reached * (theta[0] - this.data.coordinates[0].rest);
      return { theta: [last], position, reached: false, message: this.obstacleText("dead", position, position) };
    }
    let low = 0, high = 1, best: Position | null = null, beyond = position, reason = obstacle;
    const between = (t: number) => theta.map((value, i) => from[i] + t * (value - from[i]));
    for (let i = 0; i < HALVINGS; i++) {
      const t = 0.5 * (low + high), tried = this.closure.close(between(t)), stops = this.obstacle(tried);
      if (stops === null) {
        low = t;
        best = tried;
      } else {
        high = t;
        beyond = tried;
        reason = stops;
      }
    }
    const kept = best ? between(low) : from.slice();
    return { theta: kept, position: best ?? this.closure.close(from), reached: false, message: this.obstacleText(reason, beyond, best ?? beyond) };
  }

  private range(limits: [number, number], of: "rad" | "m"): string {
    const { unit, factor } = shown(of, this.rows.extent);
    return `${limits.map((x) => number(x * factor)).join(" to ")} ${unit}`;
  }

  private limitText(i: number): string {
    const { name, low, high, unit } = this.data.coordinates[i];
    return `“${name}” is at its limit, ${this.range([low, high], unit)}`;
  }

  private obstacleText(reason: "dead" | { part: string; value: number; limits: [number, number]; unit: "rad" | "m" }, beyond: Position, last: Position): string {
    if (reason !== "dead") {
      return `${reason.part} is at its limit, ${this.range(reason.limits, reason.unit)}`;
    }
    const near = singularity(this.rows, beyond.X, this.data.kinematics.rank);
    const names = locked(this.rows, near < DEAD ? beyond.X : last.X).map((j) => this.data.coordinates[j].name);
    if (near > DEAD) return `the loops cannot be closed beyond this posture (singularity ${near.toPrecision(2)})`;
    const what = names.length ? `${names.map((name) => `“${name}”`).join(", ")} ${names.length === 1 ? "locks" : "lock"}` : "the mechanism gains an unconstrained motion";
    return `dead point: ${what} (singularity ${near.toPrecision(2)})`;
  }

  singularity(position: Position): number {
    return singularity(this.rows, position.X, this.data.kinematics.rank);
  }

  /** Modes with locked actuators, or null without elastic parts. */
  modes(position: Position): Modes | null {
    if (!this.structure) return null;
    const found = lowestModes(this.structure, position.X, position.w, this.start);
    this.start = found.start;
    return found;
  }

  /** Map values at θ: frequencies in Hz and the singularity; null if undefined. */
  values(theta: ArrayLike<number>): { frequencies: Float64Array; singularity: number; position: Position } | null {
    const position = this.closure.close(theta);
    if (this.obstacle(position) !== null) return null;
    return { frequencies: this.modes(position)?.frequencies ?? new Float64Array(0), singularity: this.singularity(position), position };
  }
}
