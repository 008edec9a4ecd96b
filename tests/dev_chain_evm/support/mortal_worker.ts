/**
 * A proxy that stops for good before one of its calls to anvil, as one that is killed there: the test then
 * terminates the worker, which closes its files and ends nothing in order.
 *
 * @module
 */

import { startEvmDevChain } from "../../../devchain/evm/start.ts";
import { attach, usdtOf } from "./chain.ts";

/** One life. */
export interface Life {
  readonly dataDir: string;
  /** Calls to anvil that are still made, counted from `phase` on. */
  readonly calls: number;
  readonly phase: "opening" | "open";
  /** Signed transfers of 1 USDT, with the nonces that are next. */
  readonly raws: readonly [string, string];
  readonly payee: string;
}

/** Messages of the worker, in the order of its life. */
export type Word =
  | { readonly tells: "opened"; readonly head: number; readonly pending: number }
  | { readonly tells: "done"; readonly step: string; readonly value: unknown }
  | { readonly tells: "dead" }
  | { readonly tells: "lived"; readonly calls: number };

globalThis.addEventListener("message", (event) => {
  if (!(event instanceof MessageEvent)) return;
  const [port] = event.ports;
  if (port !== undefined) void run(port, event.data);
}, { once: true });

async function run(port: MessagePort, { dataDir, calls, phase, raws, payee }: Life): Promise<void> {
  const tell = (word: Word) => port.postMessage(word);
  const original = globalThis.fetch;
  let counted = 0;
  let isCounting = phase === "opening";
  globalThis.fetch = async (input, init) => {
    const { method } = JSON.parse(String(init?.body));
    // looking for anvil at the start is no step: it repeats until anvil is there
    if (isCounting && method !== "eth_accounts" && counted++ === calls) {
      tell({ tells: "dead" });
      await new Promise(() => {});
    }
    return await original(input, init);
  };
  const started = await startEvmDevChain({ network: "ETH", dataDir, port: 0, blockMs: 0 });
  isCounting = false;
  const server = attach(started, dataDir, "ETH", original);
  const { head, pending } = await server.info();
  tell({ tells: "opened", head, pending });
  isCounting = phase === "open";
  const done = (step: string, value: unknown) => tell({ tells: "done", step, value });
  done("sent", await server.rpc("eth_sendRawTransaction", raws[0]));
  done("mined", (await server.mine()).head);
  done("sent", await server.rpc("eth_sendRawTransaction", raws[1]));
  done("reorganised", (await server.post("/dev/reorg", { depth: 1 })).head);
  done("mined", (await server.mine()).head);
  done("paid", String(await usdtOf(server, payee)));
  tell({ tells: "lived", calls: counted });
  await started.stop();
}
