import { erc20Abi, formatBlock, formatTransactionReceipt, parseEventLogs } from "viem";
import { Interface } from "ethers";
import { plainReceipt, plainRoot } from "../../evm/support/block_fixture.ts";
import { type EvmMeasurement, medians } from "./evm_report.ts";
import { blockTexts, type ParseRun, readBlock, readFor, TRANSFERS } from "./parse_blocks.ts";

const NAME = "blocks of 300 receipts read with their proof, per s";

/** Blocks that are read and proven in a second, by one thread and by two, and by other libraries. */
export async function measureParsing(
  seconds: number,
  rounds: number,
): Promise<readonly EvmMeasurement[]> {
  const texts = blockTexts();
  const alone = (read: (text: string) => unknown) => rateOf([readFor(seconds, texts, read)]);
  const found: (readonly EvmMeasurement[])[] = [];
  for (let round = 0; round < rounds; round++) {
    found.push([
      { name: `${NAME}, 1 thread`, value: alone(readBlock), asked: { least: 100 } },
      {
        name: `${NAME}, 2 threads`,
        value: rateOf(await Promise.all([inThread(seconds), inThread(seconds)])),
        asked: { least: 170 },
      },
      { name: "viem, and a plain trie for the proof", value: alone(viemProven), asked: null },
      { name: "viem without a proof", value: alone(viemAlone), asked: null },
      { name: "ethers without a proof, logs alone", value: alone(ethersLogs), asked: null },
    ]);
  }
  return medians(found);
}

/** The usual way with viem: its own shapes, and its decoder of events. */
function viemAlone(text: string): void {
  const { head, receipts } = JSON.parse(text);
  formatBlock(head);
  // deno-lint-ignore no-explicit-any -- JSON
  const logs = receipts.flatMap((one: any) => formatTransactionReceipt(one).logs);
  const events = parseEventLogs({ abi: erc20Abi, eventName: "Transfer", logs });
  if (events.length < TRANSFERS) throw new Error("Cannot compare as viem finds no transfers");
}

function viemProven(text: string): void {
  viemAlone(text);
  const { head, receipts } = JSON.parse(text);
  if (plainRoot(receipts.map(plainReceipt)) !== head.receiptsRoot) {
    throw new Error("Cannot compare as the plain root is another");
  }
}

const TOKEN = new Interface(["event Transfer(address indexed, address indexed, uint256)"]);

function ethersLogs(text: string): void {
  const { receipts } = JSON.parse(text);
  let found = 0;
  for (const { logs } of receipts) {
    for (const log of logs) if (TOKEN.parseLog(log) !== null) found++;
  }
  if (found < TRANSFERS) throw new Error("Cannot compare as ethers finds no transfers");
}

function rateOf(runs: readonly ParseRun[]): number {
  return runs.reduce((sum, { blocks, seconds }) => sum + blocks / seconds, 0);
}

async function inThread(seconds: number): Promise<ParseRun> {
  const thread = new Worker(new URL("./parse_blocks.ts", import.meta.url), {
    type: "module",
    name: String(seconds),
  });
  const done = Promise.withResolvers<ParseRun>();
  thread.onmessage = ({ data }: MessageEvent<ParseRun>) => done.resolve(data);
  thread.onerror = ({ message }) => done.reject(new Error(message));
  try {
    return await done.promise;
  } finally {
    thread.terminate();
  }
}
