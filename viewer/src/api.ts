/** `window.supple`: interface of the page for tests and the browser's console. */

import type { Page, Animation } from "./page";
import { ReducedModel } from "./model/reduced_model";
import { receptance } from "./vibration/frf";
import { portRow, ports } from "./vibration/port";

export interface Playback { names: string[]; go(t: number): void }

export function api(page: Page, playback: Playback | null) {
  const settled = () => new Promise<void>((done) => requestAnimationFrame(() => done()));
  const named = () => Object.fromEntries(page.data.coordinates.map(({ name }, i) => [name, page.theta[i]]));
  return {
    ready: Promise.resolve(true),
    coordinates: named,
    set: async (values: Record<string, number>) => {
      const unknown = Object.keys(values).filter((name) => !(name in named()));
      if (unknown.length) throw new Error(`there is no coordinate "${unknown[0]}"`);
      const found = page.go(page.data.coordinates.map(({ name }, i) => values[name] ?? page.theta[i]));
      page.freshModes();
      await settled();
      return { reached: found.reached, message: found.message };
    },
    frame: (name: string) => page.frame(name),
    frequencies: () => Array.from(page.freshModes()?.frequencies ?? []),
    /** Convergence data of the present modes. */
    search: () => {
      const { converged, passes, block, unheld } = page.freshModes()!;
      return { converged, passes, block, unheld };
    },
    response: (input: string, output: string, hertz: number[]) => {
      const vibration = page.data.vibration, modes = page.freshModes();
      if (!vibration || !modes) throw new Error("the mechanism has no elastic parts");
      const known = ports(page.data.scene);
      const [g, h] = [input, output].map((name) => {
        const port = known.find((item) => item.name === name);
        if (!port) throw new Error(`there is no ${name}`);
        return portRow(port, vibration, page.position.X);
      });
      const { real, imag } = receptance(modes, g, h, Float64Array.from(hertz), vibration.damping);
      return { real: Array.from(real), imag: Array.from(imag) };
    },
    model: () => {
      const data = page.data.model, model = data ? new ReducedModel(data, page.data.coordinates.map(({ name }) => name)) : null;
      const values = model?.evaluate(page.theta) ?? null;
      return model && values ? { columns: model.columns, values: Array.from(values), frequencies: model.frequencies(values) } : null;
    },
    singularity: () => page.machine.singularity(page.position),
    mode: (k: number | null) => page.animate({ mode: k }),
    animate: (change: Partial<Animation>) => page.animate(change),
    pose: (name: string) => page.go(page.data.configurations[name]),
    pixels: () => {
      page.stage.draw();
      return page.stage.canvas.toDataURL("image/png");
    },
    frameCost: () => page.stage.costs.slice(),
    cost: () => ({ ...page.cost }),
    runs: () => playback?.names ?? [],
    time: (t: number) => playback?.go(t),
    testMode: (k: number | null) => page.chooseTest(k),
    page,
  };
}
