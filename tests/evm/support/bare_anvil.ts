/**
 * An anvil of a test's own, without a proxy before it: blocks are made when the test says so.
 *
 * @module
 */

import { fileURLToPath } from "node:url";

/** Its binary is in the package. */
const BINARY = fileURLToPath(
  new URL("../../../node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil", import.meta.url),
);
/** Far longer than any file of tests: what is left behind by a killed run ends by itself. */
const LONGEST_SECONDS = 300;

/** Anvil's first account, from its public mnemonic "test test ... junk". */
export const FAUCET_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** A running anvil. */
export interface BareAnvil extends AsyncDisposable {
  readonly url: string;
  /** Calls a method; an error of JSON-RPC is thrown. */
  rpc<T = string>(method: string, ...params: readonly unknown[]): Promise<T>;
  /** Makes blocks. */
  mine(count?: number): Promise<void>;
}

/** A receipt, as far as tests look at it. */
export interface AnvilReceipt {
  readonly status: string;
  readonly type: string;
  readonly gasUsed: string;
  readonly contractAddress: string;
  readonly logs: readonly unknown[];
}

/** Starts one on a free port, with two blocks to finality. */
export async function startAnvil(...more: readonly string[]): Promise<BareAnvil> {
  const child = new Deno.Command("timeout", {
    args: [
      "--signal=KILL",
      String(LONGEST_SECONDS),
      BINARY,
      "--port",
      "0",
      "--no-mining",
      "--order",
      "fifo",
      "--slots-in-an-epoch",
      "1",
      "--gas-limit",
      "90000000",
      ...more,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const url = `http://${await listeningOn(output)}`;
  const drained = drain(output);
  const rpc = async <T>(method: string, ...params: readonly unknown[]): Promise<T> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = await response.json();
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
  return {
    url,
    rpc,
    mine: async (count = 1) => {
      await rpc("anvil_mine", `0x${count.toString(16)}`);
    },
    [Symbol.asyncDispose]: async () => {
      // passed on to the program that it watches over
      child.kill("SIGTERM");
      await child.status;
      await drained;
    },
  };
}

/** The address that it prints once it listens. */
async function listeningOn(output: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  while (true) {
    const { value, done } = await output.read();
    if (done) throw new Error(`Cannot use anvil as it ended: ${text}`);
    text += value;
    const [, address] = /Listening on (\S+)/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
}

/** Reads on, so that it is never held up by what it prints. */
async function drain(output: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await output.read()).done);
}
