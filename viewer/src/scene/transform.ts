/** World positions of places on bodies: x + R p. */

export type Vector = [number, number, number];

export function placed(X: Float64Array, body: number, p: ArrayLike<number>, out: Vector = [0, 0, 0]): Vector {
  const o = 12 * body;
  for (let r = 0; r < 3; r++) {
    out[r] = X[o + r] + X[o + 3 + 3 * r] * p[0] + X[o + 4 + 3 * r] * p[1] + X[o + 5 + 3 * r] * p[2];
  }
  return out;
}

/** R M, row by row. */
export function turnedAxes(X: Float64Array, body: number, M: ArrayLike<number>): number[] {
  const o = 12 * body + 3, out: number[] = [];
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) out.push(X[o + 3 * r] * M[c] + X[o + 3 * r + 1] * M[3 + c] + X[o + 3 * r + 2] * M[6 + c]);
  }
  return out;
}

/** Displacement and rotation of a place from those (nodes, 6) of the node that carries it. */
export function carried(carrier: { node: number; arm: number[] } | null | undefined, U: Float64Array | null): Float64Array {
  const out = new Float64Array(6);
  if (!carrier || !U) return out;
  for (let k = 0; k < 6; k++) out[k] = U[6 * carrier.node + k];
  const [x, y, z] = carrier.arm;
  out[0] += out[4] * z - out[5] * y;
  out[1] += out[5] * x - out[3] * z;
  out[2] += out[3] * y - out[4] * x;
  return out;
}

/** Motion (6, size) times z of its body: displacement and rotation in body axes. */
export function motionOf(motion: { shape: number[]; values: Float64Array } | null | undefined, z: Float64Array | null): Float64Array {
  const out = new Float64Array(6);
  if (!motion || !z) return out;
  const size = motion.shape[motion.shape.length - 1];
  for (let k = 0; k < 6; k++) {
    let total = 0;
    for (let c = 0; c < size; c++) total += motion.values[k * size + c] * z[c];
    out[k] = total;
  }
  return out;
}
