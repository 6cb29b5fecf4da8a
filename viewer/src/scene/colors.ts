/** Colours that colour-blind people can distinguish: the eight of Okabe and Ito, and viridis. */

export const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#B8A800", "#7A7A7A"];
export const DRIVEN = "#E69F00";

const VIRIDIS = [
  [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140], [34, 168, 132], [68, 191, 112],
  [122, 209, 81], [189, 223, 38], [253, 231, 37],
];

/** Viridis at t from 0 to 1: red, green, blue from 0 to 1. */
export function viridis(t: number): [number, number, number] {
  const x = Math.min(Math.max(t, 0), 1) * (VIRIDIS.length - 1), i = Math.min(Math.floor(x), VIRIDIS.length - 2), f = x - i;
  const [a, b] = [VIRIDIS[i], VIRIDIS[i + 1]];
  return [0, 1, 2].map((k) => (a[k] + f * (b[k] - a[k])) / 255) as [number, number, number];
}

export function css(rgb: [number, number, number]): string {
  return `rgb(${rgb.map((x) => Math.round(255 * x)).join(",")})`;
}

export function gradient(direction = "to right"): string {
  return `linear-gradient(${direction}, ${VIRIDIS.map((c) => `rgb(${c.join(",")})`).join(", ")})`;
}
