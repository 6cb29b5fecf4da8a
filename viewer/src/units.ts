/** Numbers with units for display. */

const DEGREES = 180 / Math.PI;

/** Displayed unit of a coordinate: angles in degrees, lengths in millimetres for small machines. */
export interface Shown {
  unit: string;
  factor: number;
}

export function shown(unit: "rad" | "m", size: number): Shown {
  if (unit === "rad") return { unit: "°", factor: DEGREES };
  return size < 2 ? { unit: "mm", factor: 1e3 } : { unit: "m", factor: 1 };
}

export function number(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.max(digits - 2, 0));
  return String(Number(value.toPrecision(digits)));
}

/** Return a length with a suitable unit. */
export function length(metres: number): string {
  for (const [unit, size] of [["m", 1], ["mm", 1e-3], ["µm", 1e-6], ["nm", 1e-9]] as [string, number][]) {
    if (Math.abs(metres) >= size * 0.9999) return `${number(metres / size, 3)} ${unit}`;
  }
  return metres === 0 ? "0 m" : `${number(metres, 3)} m`;
}
