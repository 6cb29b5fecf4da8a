/** Decoded data of Python's `page_data`. Positions are in axes of their bodies; the ground is the last body. */

import type { RestData } from "../kinematics/closure";
import type { RowData } from "../kinematics/row_table";
import type { DampingLaw } from "../vibration/frf";
import type { StructureData } from "../vibration/structure";
import type { PiecewiseData } from "../model/piecewise";
import type { Column } from "../model/reduced_model";
import type { Table } from "./encoded";

export interface Coordinate { name: string; unit: "rad" | "m"; low: number; high: number; limited: boolean; rest: number }
export interface Limit { part: string; measure: number; limits: [number, number]; unit: "rad" | "m" }
export interface Outline { outer: number[][]; inner?: number[][] }

export interface BeamPart {
  kind: "beam"; at: Table; axes: Table; sections: Outline[];
  motion?: Table; strain?: Table; nodes?: Table; xi?: Table; ways?: Table; arms?: Table;
}
/** Node of an elastic body that carries a place, and the arm from it. */
export interface Carrier { node: number; arm: number[] }
export interface SolidPart { kind: "solid"; points: Table; about: number[]; motion: Table | null; carrier: Carrier | null; faint?: boolean }
export interface CloudPart { kind: "cloud"; at: Table; motion: Table; nodes: Table }
export type Part = BeamPart | SolidPart | CloudPart;

export interface BodyData { name: string; color: number; parts: Part[] }
export interface JointData {
  name: string; kind: string; turns: boolean; bodies: [number, number]; at: [number[], number[]]; axes: [number[], number[]];
  motions: [Table | null, Table | null]; carriers: [Carrier | null, Carrier | null]; actuators: string[]; elastic: boolean;
}
export interface EndData { body: number; at: number[]; motion: Table | null; carrier: Carrier | null }
export interface LineData { section: "actuators" | "springs" | "dampers"; name: string; ends: [EndData, EndData] }
export interface GuideData { joint: string; interval: [number, number]; at: number[]; axis: number[] }
export interface PlaceData extends EndData { name: string; axes: number[]; frame: boolean }

export interface SceneData {
  bodies: BodyData[]; joints: JointData[]; lines: LineData[]; guides: GuideData[]; places: PlaceData[]; sensors: PlaceData[];
  gravity: number[] | null; axes: number[]; letters: string;
}

export interface VibrationData extends StructureData {
  band: number;
  /** Use of the stiffness of loads at rest in the modes; "none" without loads. */
  preload: "counted" | "left out" | "none";
  bodies: [number, number][];
  damping: DampingLaw & { says: string[]; given: boolean };
  softness: { row: number; part: string; compliance: number }[];
  drives: { column: number; part: string }[];
}

export interface ModelData {
  name: string; coordinates: string[]; low: Table; high: Table; errors: Record<string, Table>; stated: Record<string, number>; says: string[];
  internal: number;
  function: PiecewiseData & { columns: Column[]; constants: Record<string, number[]>; size: number; theta: number };
}

export interface SignalData { name: string; unit: string; group: string; values: Table }
export interface RunData {
  name: string; kind: string; time: Table; bodies: string[]; position: Table; quaternion: Table;
  nodes: Record<string, Table>; coordinates: Record<string, Table>; signals: SignalData[]; signal_time: Table; note: string;
}
export interface TestData {
  name: string; frequencies_hz: number[]; damping: number[]; coordinates: Record<string, number>;
  points: { name: string; body: string | null; place: number[]; local: number[] | null }[];
  real: Table; imag: Table; model_hz: (number | null)[] | null; mac: (number | null)[] | null;
}

export interface PageData {
  format: number; name: string; description: string;
  kinematics: { rows: RowData; rest: RestData; rank: number };
  coordinates: Coordinate[]; limits: Limit[]; configurations: Record<string, number[]>;
  at: number[] | null;
  scene: SceneData; vibration: VibrationData | null; still: string; notes: string[];
  model?: ModelData; runs?: RunData[]; test?: TestData;
}
