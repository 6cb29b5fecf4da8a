/** Web worker: computes values of the map and of the workspace, posture by posture, and sends them in pieces. */

import { Machine } from "./machine";
import { placed } from "./scene/transform";

export interface Job {
  id: number;
  /** (count, s), one posture after another. */
  thetas: Float64Array;
  /** Place whose position is requested, or null. */
  place: { body: number; at: number[] } | null;
}

export interface Piece {
  id: number;
  /** Indices of the postures within the job. */
  first: number;
  /** For each posture: singularity, then frequencies in Hz; NaN where undefined. */
  values: Float64Array;
  width: number;
  /** (count, 3) in the drawing's axes. */
  places: Float64Array | null;
  done: boolean;
}

const SLICE = 60; // ms between two pieces

export function work(): void {
  let machine: Machine | null = null, current = -1;
  const scope = self as unknown as { onmessage: (event: MessageEvent) => void; postMessage(message: Piece): void };
  scope.onmessage = (event) => {
    if (!machine) {
      machine = new Machine(event.data);
      return;
    }
    const job = event.data as Job, ready = machine;
    current = job.id;
    const s = ready.rows.coordinates, count = job.thetas.length / s, width = 1 + (ready.structure?.data.count ?? 0);
    const from = (first: number) => {
      if (current !== job.id) return; // a newer job replaces this one
      const end = performance.now() + SLICE, values: number[] = [], places: number[] = [];
      let i = first;
      for (; i < count && performance.now() < end; i++) {
        const found = ready.values(job.thetas.subarray(i * s, (i + 1) * s));
        values.push(found?.singularity ?? NaN);
        for (let k = 0; k + 1 < width; k++) values.push(found?.frequencies[k] ?? NaN);
        if (job.place) places.push(...(found ? placed(found.position.X, job.place.body, job.place.at) : [NaN, NaN, NaN]));
      }
      scope.postMessage({ id: job.id, first, values: Float64Array.from(values), width, places: job.place ? Float64Array.from(places) : null, done: i >= count });
      if (i < count) setTimeout(() => from(i), 0);
    };
    from(0);
  };
}
