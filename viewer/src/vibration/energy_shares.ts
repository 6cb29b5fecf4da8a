/** Distribution of the elastic energy of a mode: bodies, joints, springs and drives (docs/theory/elastic-rest.md, 15-19). */

import type { PageData, VibrationData } from "../data/page_data";
import type { Modes } from "./modes";
import type { Structure } from "./structure";

export interface Share { part: string; share: number }

export function energyShares(structure: Structure, vibration: VibrationData, data: PageData, modes: Modes, mode: number): Share[] {
  const n = structure.size, z = modes.shapes.subarray(mode * n, (mode + 1) * n), found = new Map<string, number>();
  const add = (part: string, energy: number) => found.set(part, (found.get(part) ?? 0) + energy);
  const drives = new Map(vibration.drives.map(({ column, part }) => [column, part]));
  vibration.bodies.forEach(([start, size], b) => {
    for (let c = start; c < start + size; c++) add(drives.get(c) ?? data.scene.bodies[b].name, structure.stiffness[c] * z[c] * z[c]);
  });
  const parts = new Map(vibration.softness.map(({ row, part }) => [row, part])), C = modes.response.C;
  structure.held.forEach((row, i) => {
    const compliance = structure.data.compliance.values[i];
    if (compliance <= 0) return;
    let moved = 0;
    for (let c = 0; c < n; c++) moved += C[i * n + c] * z[c];
    add(parts.get(row) ?? "springs", (moved * moved) / compliance);
  });
  const total = [...found.values()].reduce((a, b) => a + b, 0);
  return [...found].map(([part, energy]) => ({ part, share: total > 0 ? energy / total : 0 })).sort((a, b) => b.share - a.share).filter(({ share }) => share > 5e-4);
}
