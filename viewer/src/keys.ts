/** Keys: modes by number, space to pause, arrows to rotate the camera. */

import type { Page } from "./page";

export const KEYS: [string, string][] = [
  ["1 … 8", "animate a mode; press again to stop"],
  ["space", "pause or resume"],
  ["0", "stop"],
  ["arrows", "rotate the camera (if the machine has the focus), or move the slider with the focus"],
  ["+ −", "zoom in, zoom out"],
  ["h", "show everything"],
  ["n", "names of places"],
  ["t", "dark or light theme"],
];

export function handleKeys(page: Page, canvas: HTMLCanvasElement, actions: { names(): void; theme(): void; home(): void }): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || (target.matches("input, select, textarea") && !/^[a-z]$/.test(event.key))) return;
    if (target.matches("input[type=number], select")) return;
    if (/^[1-9]$/.test(event.key) && page.data.vibration) {
      const k = Number(event.key) - 1;
      if (k < page.data.vibration.count) page.animate({ mode: page.animation.mode === k ? null : k });
    } else if (event.key === "0") page.animate({ mode: null });
    else if (event.key === " " && !target.matches("button, summary")) page.animate({ paused: !page.animation.paused });
    else if (event.key === "n") actions.names();
    else if (event.key === "t") actions.theme();
    else if (event.key === "h") actions.home();
    else if (target === canvas && turn(page, event.key)) { /* camera rotated */ } else return;
    event.preventDefault();
  });
}

/** Rotate the camera about its target, or change its distance. */
function turn(page: Page, key: string): boolean {
  const { camera, controls } = page.stage, offset = camera.position.clone().sub(controls.target);
  const side = offset.clone().cross(camera.up).normalize(), step = 0.08;
  if (key === "ArrowLeft") offset.applyAxisAngle(camera.up, -step);
  else if (key === "ArrowRight") offset.applyAxisAngle(camera.up, step);
  else if (key === "ArrowUp") offset.applyAxisAngle(side, step);
  else if (key === "ArrowDown") offset.applyAxisAngle(side, -step);
  else if (key === "+" || key === "=") offset.multiplyScalar(0.92);
  else if (key === "-") offset.multiplyScalar(1.08);
  else return false;
  camera.position.copy(controls.target).add(offset);
  controls.update();
  page.stage.touch();
  return true;
}
