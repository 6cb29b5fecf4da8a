/** What the page says of the loads at rest. */

import type { VibrationData } from "../data/page_data";
import type { Modes } from "./modes";

const SAYS = {
  counted: "with the stiffness of loads at rest",
  "left out": "without the stiffness of loads at rest",
  none: "no loads at rest",
};

/** Whether frequencies have the geometric stiffness of the loads. */
export function loadsSay({ preload }: VibrationData): string {
  return SAYS[preload];
}

/** What is wrong with the loads at this posture; nothing where they are held. */
export function loadsWarn({ squares, unheld }: Modes): string {
  if (unheld) return "The loads move something that no joint, coordinate or spring holds: their stiffness is left out.";
  const past = squares.filter((x) => x < -1e-9 * Math.abs(squares[squares.length - 1])).length;
  return past ? `The loads are above the buckling load: ${past === 1 ? "the mode with a negative frequency is a motion" : `the ${past} modes with negative frequencies are motions`} that they do not hold.` : "";
}
