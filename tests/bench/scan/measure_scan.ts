/**
 * Catching up with busy blocks over HTTP, from the node's answer to the committed row; and deposits
 * from their block to CONFIRMED.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { addressFromLogHex } from "../../../chains/tron/address.ts";
import type { BenchCluster } from "../bench_cluster.ts";
import { serverTimeUs } from "../processor_time.ts";
import { ISSUED_ADDRESSES } from "../seed.ts";
import { engineFlags, firstLine } from "../server_process.ts";
import { coreTime, stolenShare } from "../stolen_time.ts";
import { issuedAddress } from "./block_template.ts";
import type { ScanArgs, ScanFigures } from "./scan_process.ts";

/** Cases that are compared; each has a database of its own. */
export const SCAN_CASES = {
  scan_small: "the engine, 10,000 issued addresses",
  scan_large: "the engine, 1,000,000 issued addresses",
  scan_one_by_one: "an address and a row at a time, 10,000 issued addresses",
  deposits_spread: "the engine, 1,000 merchants",
  deposits_hot: "the engine, one merchant",
  deposits_alone: "a transaction per deposit, 8 connections, 1,000 merchants",
} as const;

/** One of {@linkcode SCAN_CASES}. */
export type ScanCase = keyof typeof SCAN_CASES;

/** One measurement. */
export interface ScanMeasurement {
  readonly case: ScanCase;
  readonly round: number;
  readonly blocksPerSecond: number;
  /** Deposits booked per second; 0 where no journal books. */
  readonly depositsPerSecond: number;
  /** Processor time per block: the reading process and PostgreSQL (null: unknown), microseconds. */
  readonly readerUs: number;
  readonly databaseUs: number | null;
  readonly memoryMb: number;
  /** Share of the cores' time that the host took while the reader ran; null: unknown. */
  readonly stolen: number | null;
}

const TRANSFERS = 300;
/** Of a busy block's receivers some are ours; for deposits all of them. */
const OWNED = 3;
const MANY_ADDRESSES = 1_000_000;

/** Blocks of a case as they are in a run of 4 s per measurement; shorter runs read fewer. */
const USUAL_S = 4;
/** Blocks read in each case: a warm-up, then the measured blocks. */
const WORK: { readonly [one in ScanCase]: Omit<ScanArgs, "databaseUrl" | "chainUrl" | "skip"> } = {
  scan_small: { side: "engine", warmUp: 100, blocks: 400 },
  scan_large: { side: "engine", warmUp: 100, blocks: 400 },
  scan_one_by_one: { side: "one_by_one", warmUp: 2, blocks: 8 },
  deposits_spread: { side: "credit", warmUp: 20, blocks: 60 },
  deposits_hot: { side: "credit", warmUp: 20, blocks: 60 },
  deposits_alone: { side: "credit_alone", warmUp: 2, blocks: 10 },
};

/** Measures cases again and again; databases and nodes are made when they are first needed. */
export class ScanBench implements AsyncDisposable {
  readonly #cluster: BenchCluster;
  readonly #share: number;
  readonly #note: (text: string) => void;
  readonly #nodes = new Map<number, BlockNode>();
  readonly #skip = new Map<ScanCase, number>();
  readonly #ready = new Set<ScanCase>();

  /** @param seconds how long a measurement is meant to take */
  constructor(cluster: BenchCluster, seconds: number, note: (text: string) => void) {
    this.#cluster = cluster;
    this.#share = seconds / USUAL_S;
    this.#note = note;
  }

  async measure(which: ScanCase, round: number): Promise<ScanMeasurement> {
    const { url } = await this.#cluster.database(which);
    if (!this.#ready.has(which)) {
      this.#note(`preparing ${which}`);
      // a million rows take as long as a busy machine needs
      const sql = connect(url, { max: 1, statementTimeoutMs: 0 });
      try {
        await prepare(which, sql, this.#cluster.seed.spreadMerchants);
      } finally {
        await sql.end({ timeout: 5 });
      }
      this.#ready.add(which);
    }
    const node = await this.#node(which);
    const skip = this.#skip.get(which) ?? 0;
    const warmUp = Math.ceil(WORK[which].warmUp * this.#share);
    const blocks = Math.ceil(WORK[which].blocks * this.#share);
    this.#skip.set(which, skip + warmUp + blocks);
    const before = await serverTimeUs(this.#cluster.pid);
    const coresBefore = await coreTime();
    const figures = await runReader({
      side: WORK[which].side,
      warmUp,
      blocks,
      databaseUrl: url,
      chainUrl: node.url,
      skip,
    });
    const stolen = stolenShare(coresBefore, await coreTime());
    const after = await serverTimeUs(this.#cluster.pid);
    const all = warmUp + blocks;
    const deposits = figures.deposits;
    if (which.startsWith("deposits") && deposits !== blocks * TRANSFERS) {
      throw new Error(
        `Cannot trust the figures as deposits are missing: ${deposits} of ${blocks * TRANSFERS}`,
      );
    }
    return {
      case: which,
      round,
      blocksPerSecond: blocks / figures.seconds,
      depositsPerSecond: deposits / figures.seconds,
      readerUs: figures.cpuUs / blocks,
      databaseUs: before === null || after === null ? null : (after - before) / all,
      memoryMb: figures.memory / 1e6,
      stolen,
    };
  }

  async #node(which: ScanCase): Promise<BlockNode> {
    const owned = which.startsWith("deposits") ? TRANSFERS : OWNED;
    // with a million addresses as with ten thousand, as many transfers are found
    const known = this.#nodes.get(owned) ?? await startNode(owned, ISSUED_ADDRESSES);
    this.#nodes.set(owned, known);
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes.values()) await node.stop();
  }
}

/** Gives a case its addresses. */
async function prepare(which: ScanCase, sql: Sql, merchants: readonly string[]): Promise<void> {
  if (which === "scan_large") {
    // texts without a checksum, which are base58 of the right prefix: the index that scans use has
    // their 20 bytes
    await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      SELECT 'T' || substr('ABCDEFGHJKLMNPQRSTUVWXY', 1 + i % 23, 1) ||
        substr(translate(encode(sha256(i::text::bytea), 'base64'), '0OIl+/', '1PJm23'), 1, 32),
        'TRX', ${merchants[0] ?? ""}, 'adr_' || i, i
      FROM generate_series(${ISSUED_ADDRESSES + 1}::int, ${MANY_ADDRESSES}::int) i`;
  }
  if (which.startsWith("deposits")) {
    const owners = which === "deposits_hot" ? merchants.slice(0, 1) : merchants;
    await sql`
      UPDATE hub.address a SET merchant_id = (${[
      ...owners,
    ]}::text[])[1 + a.wallet_index % ${owners.length}]`;
    await sql`
      INSERT INTO book.deposit_address
        (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
      SELECT address_id, merchant_id, network, address, wallet_index, 'issued', address_id, now()
      FROM hub.address`;
    await sql`VACUUM ANALYZE book.deposit_address`;
  }
  await sql`VACUUM ANALYZE hub.address`;
  const [row] = await sql`SELECT 1 FROM hub.address WHERE address = ${
    addressFromLogHex(issuedAddress(1))
  }`;
  if (row === undefined) throw new Error("Cannot measure as no address is known");
}

interface BlockNode {
  readonly url: string;
  stop(): Promise<void>;
}

async function startNode(owned: number, addresses: number): Promise<BlockNode> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-net=127.0.0.1",
      fileURLToPath(new URL("./block_server.ts", import.meta.url)),
      JSON.stringify({ transfers: TRANSFERS, owned, addresses }),
    ],
    stdout: "piped",
    stdin: "null",
  }).spawn();
  const { url }: { readonly url: string } = JSON.parse(await firstLine(child.stdout));
  return {
    url,
    stop: async () => {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

async function runReader(args: ScanArgs): Promise<ScanFigures> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...await engineFlags(),
      "--no-prompt",
      // the database's Unix socket takes all three
      "--allow-net",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-sys",
      fileURLToPath(new URL("./scan_process.ts", import.meta.url)),
      JSON.stringify(args),
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`Cannot measure as the reader ended: ${args.side}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}
