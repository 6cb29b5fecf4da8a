/** Texts about the loads at rest. */

import type { VibrationData } from "../data/page_data";
import type { Modes } from "./modes";

const TEXTS = {
  counted: "with the stiffness of loads at rest",
  "left out": "without the stiffness of loads at rest",
  none: "no loads at rest",
};

/** Text about the geometric stiffness of the loads in the frequencies. */
export function loadsText({ preload }: VibrationData): string {
  return TEXTS[preload];
}

/** Warning about the loads at this posture; "" if they are supported. */
export function loadsWarning({ squares, unheld }: Modes): string {
  if (unheld) return "The loads act on a motion that no joint, coordinate or spring supports: their stiffness is omitted.";
  const past = squares.filter((x) => x < -1e-9 * Math.abs(squares[squares.length - 1])).length;
  return past ? `The loads exceed the buckling load: ${past === 1 ? "the mode with a negative frequency is unstable" : `the ${past} modes with negative frequencies are unstable`}.` : "";
}
