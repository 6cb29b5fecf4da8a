/** The worker, from the script that the page itself is. */

import type { PageData } from "./data/page_data";
import type { Job, Piece } from "./worker";

export class Background {
  private readonly worker: Worker;
  private id = 0;
  private told: (piece: Piece) => void = () => undefined;

  constructor(data: PageData) {
    const script = document.getElementById("supple-page")!.textContent!;
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(url);
    this.worker.onmessage = (event: MessageEvent<Piece>) => {
      if (event.data.id === this.id) this.told(event.data);
    };
    const { kinematics, coordinates, limits, vibration } = data;
    this.worker.postMessage({ kinematics, coordinates, limits, vibration });
  }

  /** Begin a job, and give up the one before. */
  begin(job: Omit<Job, "id">, told: (piece: Piece) => void): void {
    this.id += 1;
    this.told = told;
    this.worker.postMessage({ ...job, id: this.id });
  }
}
