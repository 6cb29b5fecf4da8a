/** Moves bodies by twists in their own axes: x += R v, R = R exp(ω̃). */

export function moved(X: Float64Array, body: number, t: Float64Array): void {
  const o = 12 * body, [v0, v1, v2, w0, w1, w2] = t;
  const square = w0 * w0 + w1 * w1 + w2 * w2, angle = Math.sqrt(square);
  const series = angle < 1e-4; // exact to rounding
  const p = series ? 1 - square / 6 : Math.sin(angle) / angle;
  const q = series ? 0.5 - square / 24 : (1 - Math.cos(angle)) / square;
  const E00 = 1 - q * (w1 * w1 + w2 * w2), E11 = 1 - q * (w0 * w0 + w2 * w2), E22 = 1 - q * (w0 * w0 + w1 * w1);
  const E01 = q * w0 * w1 - p * w2, E10 = q * w0 * w1 + p * w2;
  const E02 = q * w0 * w2 + p * w1, E20 = q * w0 * w2 - p * w1;
  const E12 = q * w1 * w2 - p * w0, E21 = q * w1 * w2 + p * w0;
  for (let r = 0; r < 3; r++) {
    const a = X[o + 3 + 3 * r], b = X[o + 4 + 3 * r], c = X[o + 5 + 3 * r];
    X[o + r] += a * v0 + b * v1 + c * v2;
    X[o + 3 + 3 * r] = a * E00 + b * E10 + c * E20;
    X[o + 4 + 3 * r] = a * E01 + b * E11 + c * E21;
    X[o + 5 + 3 * r] = a * E02 + b * E12 + c * E22;
  }
}
