/**
 * The process that reads and credits in the bench: the service's own watcher over the production
 * adapter, and for deposits its journal. One run, then it ends.
 *
 *     deno run scan_process.ts '{"side":"engine","databaseUrl":"postgres://...", ...}'
 *
 * @module
 */

import process from "node:process";
import { Journal } from "../../../actors/journal/journal.ts";
import { watcherActors } from "../../../actors/watcher/watcher_actor.ts";
import { createJournalStore } from "../../../ledger/journal/store.ts";
import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { moveCursor } from "../../../ledger/watcher/cursor.ts";
import { addressFromLogHex } from "../../../chains/tron/address.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { publicAddresses } from "../../../chains/wallet/network_keys.ts";
import { showWarnings } from "../logging.ts";
import { scanOneByOne } from "./one_by_one.ts";
import { BENCH_USDT } from "./block_server.ts";
import { blockId, FIRST_HEIGHT, timeOf } from "./block_template.ts";

/** Arguments of the process, as JSON in its only argument. */
export interface ScanArgs {
  /**
   * `engine`: the watcher alone. `one_by_one`: an address and a row at a time, as people write it.
   * `credit`: watcher and journal. `credit_alone`: the same, a transaction per deposit.
   */
  readonly side: "engine" | "one_by_one" | "credit" | "credit_alone";
  readonly databaseUrl: string;
  readonly chainUrl: string;
  /** Blocks after the first one of the chain that were read by earlier runs. */
  readonly skip: number;
  /** Blocks that only warm up, and blocks that are measured. */
  readonly warmUp: number;
  readonly blocks: number;
}

/** Figures of a run, printed as JSON. */
export interface ScanFigures {
  readonly seconds: number;
  /** Processor time of this process, microseconds. */
  readonly cpuUs: number;
  /** Resident memory afterwards, bytes. */
  readonly memory: number;
  /** Deposits that were booked while measuring. */
  readonly deposits: number;
}

/** Journals that share the merchants where each deposit is a transaction: as many connections. */
const ALONE_AT_ONCE = 8;
/** Deposit branch of the mnemonic "abandon ... about" on TRON; nothing is derived from it here. */
const XPUB =
  "xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq";

const args: ScanArgs = JSON.parse(Deno.args[0] ?? "null");
await showWarnings();
const sql = connect(args.databaseUrl, { max: 10, applicationName: "bench-scan" });

function journalOf(pool: Sql, batchLimit?: number): Journal {
  return new Journal({
    store: createJournalStore(pool),
    now: () => Date.now(),
    usdRate: () => "1",
    onCommitted: () => {},
    ...(batchLimit === undefined ? {} : { batchLimit }),
  });
}

/** Journals that book what the watcher finds; none where only reading is measured. */
function creditors(): readonly Journal[] {
  const open = (max: number) =>
    connect(args.databaseUrl, { max, applicationName: "bench-journal", looksUpOnly: true });
  if (args.side === "credit") return [journalOf(open(4))];
  if (args.side !== "credit_alone") return [];
  return Array.from({ length: ALONE_AT_ONCE }, () => journalOf(open(1), 1));
}

const chain = createTronChain({
  network: "TRX",
  nodeUrls: [args.chainUrl],
  contracts: { USDT: BENCH_USDT },
  deposits: publicAddresses("TRX", { depositXpub: XPUB }),
  hotWallet: addressFromLogHex("f".repeat(40)),
});
const journals = creditors();
const turns = new Map<string, Journal>();

/** Each merchant always has the same journal. */
function wake(merchantIds: ReadonlySet<string>): void {
  if (journals.length === 0) return;
  for (const id of merchantIds) {
    const journal = turns.get(id) ?? journals[turns.size % journals.length];
    if (journal === undefined) return;
    turns.set(id, journal);
    journal.wake(id);
  }
}

let again = false;
const kinds = watcherActors({
  sql,
  chains: new Map([["TRX", chain]]),
  nodes: () => [],
  now: () => Date.now(),
  wakeMerchants: wake,
  onSolid: () => {},
  onStatus: (_network, { readSolid }) => height = readSolid,
  again: () => again = true,
});
const watcher = await kinds.solid.activate("TRX");
let height = FIRST_HEIGHT + args.skip;

/** Reads up to a height and waits until everything that was found is booked. */
async function readTo(target: number): Promise<void> {
  if (args.side === "one_by_one") {
    await scanOneByOne(sql, chain, height + 1, target);
    height = target;
    return;
  }
  do {
    again = false;
    await watcher.receive({ type: "tick" });
  } while (again && height < target);
  if (height < target) throw new Error(`Cannot measure as the scan stopped at block ${height}`);
  while (journals.length > 0 && await waiting()) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function waiting(): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL LIMIT 1`;
  return row !== undefined;
}

async function countDeposits(): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM book.deposit WHERE status = 'CONFIRMED'`;
  return row?.n ?? 0;
}

/** The node says that its newest block is so many above the cursor. */
async function allow(blocks: number): Promise<void> {
  const answer = await fetch(`${args.chainUrl}/newest`, {
    method: "POST",
    body: JSON.stringify({ num: height + blocks }),
    signal: AbortSignal.timeout(5_000),
  });
  await answer.body?.cancel();
}

const time = timeOf(height);
const first = {
  height,
  hash: blockId(height),
  time,
  previousTime: time,
  tick: time,
  previousTick: time,
};
await moveCursor(sql, "TRX", "solid", null, first);
await allow(args.warmUp);
await readTo(height + args.warmUp);
await allow(args.blocks);
const before = await countDeposits();
const cpu = process.cpuUsage();
const began = performance.now();
await readTo(height + args.blocks);
const seconds = (performance.now() - began) / 1_000;
const { user, system } = process.cpuUsage(cpu);
const figures: ScanFigures = {
  seconds,
  cpuUs: user + system,
  memory: Deno.memoryUsage().rss,
  deposits: await countDeposits() - before,
};
// deno-lint-ignore no-console -- the bench reads it
console.log(JSON.stringify(figures));
Deno.exit(0);
