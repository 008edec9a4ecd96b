/**
 * Cost of a block with 300 receipts, from its JSON to the owners of the addresses that it pays, with ten thousand issued
 * addresses and with a million.
 *
 * @module
 */

import process from "node:process";
import { findAddresses } from "../../../ledger/addresses/watched_addresses.ts";
import { connect } from "../../../ledger/database/connect.ts";
import { textKey } from "../../../chains/text_key.ts";
import type { BenchCluster } from "../bench_cluster.ts";
import { serverTimeUs } from "../processor_time.ts";
import { addressOf } from "../../evm/support/block_fixture.ts";
import { type EvmMeasurement, medians } from "./evm_report.ts";
import { blockTexts, readBlock } from "./parse_blocks.ts";

const NETWORK = "ETH";
const FEW = 10_000;
const MANY = 1_000_000;
const WARM_UP = 50;
const BLOCKS = 400;

/** Measures both, in turns. */
export async function measureLookUp(
  cluster: BenchCluster,
  rounds: number,
): Promise<readonly EvmMeasurement[]> {
  const few = await filled(cluster, "evm_few", FEW);
  const many = await filled(cluster, "evm_many", MANY);
  const found: (readonly EvmMeasurement[])[] = [];
  for (let round = 0; round < rounds; round++) {
    const [small, large] = [await costOf(cluster, few), await costOf(cluster, many)];
    found.push([
      {
        name: "processor time of a block: 1,000,000 addresses / 10,000",
        value: large.blockUs / small.blockUs,
        asked: { most: 1.2 },
      },
      {
        name: "of it the look-up of owners, µs, 10,000 addresses",
        value: small.lookUpUs,
        asked: null,
      },
      {
        name: "of it the look-up of owners, µs, 1,000,000 addresses",
        value: large.lookUpUs,
        asked: null,
      },
    ]);
  }
  return medians(found);
}

/** A database with issued addresses, the ones that blocks pay among them. */
async function filled(cluster: BenchCluster, name: string, count: number): Promise<string> {
  const { url } = await cluster.database(name);
  const sql = connect(url, { max: 1, statementTimeoutMs: 0 });
  try {
    const [merchant = ""] = cluster.seed.spreadMerchants;
    await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      SELECT '0x' || encode(substr(sha256(i::text::bytea), 1, 20), 'hex'), ${NETWORK}, ${merchant}, 'evm_' || i, i
      FROM generate_series(1, ${count}::int) i`;
    await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      VALUES (${addressOf(1)}, ${NETWORK}, ${merchant}, 'evm_paid', ${count + 1})`;
    await sql`VACUUM ANALYZE hub.address`;
  } finally {
    await sql.end({ timeout: 5 });
  }
  return url;
}

interface Cost {
  readonly blockUs: number;
  readonly lookUpUs: number;
}

async function costOf(cluster: BenchCluster, url: string): Promise<Cost> {
  const texts = blockTexts();
  const sql = connect(url, { max: 1, looksUpOnly: true });
  try {
    const block = async (n: number) => {
      const { transfers } = readBlock(texts[n % texts.length] ?? "");
      const keys = [...new Set(transfers.map(({ eventTo }) => textKey(eventTo)))];
      const began = performance.now();
      const owners = await findAddresses(sql, NETWORK, keys);
      if (owners.size === 0) throw new Error("Cannot measure as no address is known");
      return performance.now() - began;
    };
    for (let n = 0; n < WARM_UP; n++) await block(n);
    const before = await processorUs(cluster);
    let lookUpMs = 0;
    for (let n = 0; n < BLOCKS; n++) lookUpMs += await block(n);
    return {
      blockUs: (await processorUs(cluster) - before) / BLOCKS,
      lookUpUs: lookUpMs / BLOCKS * 1_000,
    };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Processor time of this process, and of the server where it is the run's own. */
async function processorUs({ pid }: BenchCluster): Promise<number> {
  const { user, system } = process.cpuUsage();
  return user + system + (await serverTimeUs(pid) ?? 0);
}
