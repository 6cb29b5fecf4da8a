/** Ticks of a logarithmic axis: decades, and also 2 and 5 of each if there are few. */
export function decadeLines(_plot: uPlot, _axis: number, low: number, high: number): number[] {
  const found: number[] = [], few = high / low < 150;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const k of few ? [1, 2, 5] : [1]) {
      const value = Number(`${k}e${power}`);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
    }
  }
  return found;
}

/** Whole decades around positive values; one decade without any. */

import type uPlot from "uplot";

export function decades(_plot: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !(low > 0) || !Number.isFinite(high)) return [0.1, 1];
  const first = 10 ** Math.floor(Math.log10(low) + 1e-9), last = 10 ** Math.ceil(Math.log10(high) - 1e-9);
  return [first, last > first ? last : 10 * first];
}
