/** The worker, started from the page's own script. */

import type { PageData } from "./data/page_data";
import type { Job, Piece } from "./worker";

export class Background {
  private readonly worker: Worker;
  private id = 0;
  private listener: (piece: Piece) => void = () => undefined;

  constructor(data: PageData) {
    const script = document.getElementById("supple-page")!.textContent!;
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(url);
    this.worker.onmessage = (event: MessageEvent<Piece>) => {
      if (event.data.id === this.id) this.listener(event.data);
    };
    const { kinematics, coordinates, limits, vibration } = data;
    this.worker.postMessage({ kinematics, coordinates, limits, vibration });
  }

  /** Start a job and cancel the previous one. */
  begin(job: Omit<Job, "id">, listener: (piece: Piece) => void): void {
    this.id += 1;
    this.listener = listener;
    this.worker.postMessage({ ...job, id: this.id });
  }
}
