/**
 * Worker that opens connections to `port` and resets each as soon as the system has made it, so that
 * they lie reset in the listener's queue while the thread that listens stands still.
 *
 * @module
 */

import net from "node:net";

/** Message to the worker. */
export interface ResetOrder {
  readonly port: number;
  readonly count: number;
  /** One number, which the worker sets to 1 and wakes when all are reset. */
  readonly done: Int32Array<SharedArrayBuffer>;
}

globalThis.addEventListener("message", async (event: Event) => {
  if (!(event instanceof MessageEvent)) return;
  const data: ResetOrder = event.data;
  for (let i = 0; i < data.count; i++) {
    await new Promise<void>((resolve) => {
      const socket = net.connect({ port: data.port, host: "127.0.0.1" });
      socket.on("connect", () => socket.resetAndDestroy());
      socket.on("close", () => resolve());
    });
  }
  Atomics.store(data.done, 0, 1);
  Atomics.notify(data.done, 0);
});
