/** Direction at a place, over z: a force f along it acts as gᵀf, and g z is the displacement along it. */

import type { PlaceData, SceneData, VibrationData } from "../data/page_data";

export interface Port { place: PlaceData; axis: number; name: string }

/** Places on bodies: those of sensors, then frames, then others; those furthest from the ground first. */
export function movingPlaces(scene: SceneData): PlaceData[] {
  const known = new Set(scene.sensors.map(({ name }) => name));
  const others = scene.places.filter(({ name, body }) => body < scene.bodies.length && !known.has(name));
  return [...scene.sensors, ...others.sort((a, b) => Number(b.frame) - Number(a.frame) || b.body - a.body)];
}

/** `place.axis` for every place that moves. */
export function ports(scene: SceneData): Port[] {
  const letters = scene.letters;
  return movingPlaces(scene).filter(({ motion }) => motion !== null)
    .flatMap((place) => [...letters].map((letter, axis) => ({ place, axis, name: `${place.name}.${letter}` })));
}

/** g (n) at poses X: the drawing axis in body axes, times the motion of the place. */
export function portRow({ place, axis }: Port, vibration: VibrationData, X: Float64Array): Float64Array {
  const found = new Float64Array(vibration.size), [start, size] = vibration.bodies[place.body], o = 12 * place.body + 3 + 3 * axis;
  for (let c = 0; c < size; c++) for (let k = 0; k < 3; k++) found[start + c] += X[o + k] * place.motion!.values[k * size + c];
  return found;
}
