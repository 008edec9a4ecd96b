/**
 * A real failover that loses commits: a primary with an asynchronous standby, the real engine under
 * load of withdrawals and addresses, the standby cut off from the WAL, the primary killed, the standby
 * promoted. Then the customers repeat what was lost, and an operator decides on what is listed.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { Engine } from "../../../actors/engine.ts";
import { newId } from "../../../actors/runtime/ids.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { networkKeys, publicAddresses, signingKey } from "../../../chains/wallet/network_keys.ts";
import { startDevChain } from "../../../devchain/start.ts";
import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { delay } from "../../../ledger/database/delay.ts";
import { decideSpends } from "../../../ledger/failover/spend_verdicts.ts";
import { findUndecided, listUndecided } from "../../../ledger/failover/unknown_spends.ts";
import { formatAmount } from "../../../ledger/money/amount.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { findWithdrawalOwner } from "../../../ledger/withdrawals.ts";
import { seeded } from "../../faults/support/seeded.ts";
import { addressOf } from "../../support/api.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  reserveCommand,
  until,
} from "../../support/books.ts";
import { type Binaries, privateCluster } from "../../support/private_cluster.ts";
import { startStandby } from "../../support/standby.ts";
import { addWallet } from "../../support/wallet_row.ts";
import { switchedProxy } from "./switched_proxy.ts";
import { CALM, signerOf } from "./treasury_rig.ts";

const NETWORK = "TRX";
const LIFETIME_MS = 30_000;
const MERCHANTS = 4;
/** Tenths of a second that a merchant may take to be served again on a machine that others use. */
const WEDGED_LOOKS = 1_800;
const AUDIT = { actor: "operator", action: "failover", subject: "", before: null, after: null };

/** A withdrawal of a customer, whatever it was told. */
interface Order {
  readonly merchantId: string;
  readonly destination: string;
  readonly text: string;
  readonly referenceId: string;
  withdrawalId: string | null;
}

/** Result of a run. */
export interface LossyFailover {
  readonly acknowledged: number;
  readonly lost: number;
  readonly told: number;
  readonly adopted: number;
  readonly matched: number;
  readonly writtenOff: number;
  readonly addresses: number;
  /** Faults, in words. */
  readonly faults: readonly string[];
}

/** Runs one failover; everything that is drawn comes from the seed. */
export async function lossyFailover(
  seed: number,
  binaries: Binaries = "embedded",
): Promise<LossyFailover> {
  const drawn = seeded(seed);
  const draw = { below: (most: number) => Math.floor(drawn() * most) };
  await using stack = new AsyncDisposableStack();
  const primary = stack.use(await privateCluster({ binaries }));
  const standby = stack.use(await startStandby(primary));
  const proxy = stack.use(switchedProxy(Number(new URL(primary.url).port)));
  const url = new URL(primary.url);
  url.port = String(proxy.port);
  const sql = connect(url.href, { max: 8, applicationName: "engine" });
  const journalSql = connect(url.href, { max: 2, applicationName: "journal", looksUpOnly: true });
  stack.defer(async () => {
    await Promise.all([sql.end({ timeout: 1 }), journalSql.end({ timeout: 1 })]);
  });
  const keys = networkKeys(
    HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))),
    NETWORK,
  );
  const hot = signingKey(keys, NETWORK, "hot");
  const dataDir = await Deno.makeTempDir({ prefix: "engine-failover-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const dev = await startDevChain({
    network: NETWORK,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: 2,
    treasury: hot.address,
  });
  stack.defer(() => dev.stop());
  const contracts = { USDT: dev.usdt };
  const chain = createTronChain({
    network: NETWORK,
    nodeUrls: [dev.url],
    contracts,
    deposits: publicAddresses(NETWORK, { depositXpub: keys.deposits.publicExtendedKey }),
    hotWallet: hot.address,
    lifetimeMs: LIFETIME_MS,
    requestTimeoutMs: 10_000,
  });
  await addWallet(sql, NETWORK, hot.address, "wal_failover");
  const mine = async (blocks: number, intervalMs: number) => {
    const body = JSON.stringify({ blocks, intervalMs });
    await (await fetch(`${dev.url}/dev/mine`, { method: "POST", body })).body?.cancel();
  };
  await mine(6, 1_000);
  const engine = new Engine({
    sql,
    journalSql,
    chains: new Map([[NETWORK, chain]]),
    signer: signerOf(sql, keys, contracts, {}),
    webhooks: { wake: () => {}, start: () => {}, stop: () => Promise.resolve() },
    pace: () => ({ pollMs: 40, leaseMs: 1_000, resendMs: 200, recheckMs: 500, attemptLimit: 3 }),
    now: Date.now,
    usdRate: () => "1",
    treasuryPolicy: () => CALM,
    coinRate: () => "0.3",
  });
  await engine.start();
  stack.defer(() => engine.stop(5_000));
  await until(async () => await readCursor(sql, NETWORK, "solid") !== null);
  const merchants: string[] = [];
  for (let n = 0; n < MERCHANTS; n++) {
    const merchantId = await addMerchant(sql);
    await fund(sql, engine.merchants, merchantId, "100000");
    merchants.push(merchantId);
  }

  const run = { isMining: true, isLoading: true };
  const orders: Order[] = [];
  const addresses: string[] = [];
  const send = async (order: Order, timeoutMs: number) => {
    const command = reserveCommand({
      amount: amount(order.text),
      destination: order.destination,
      referenceId: order.referenceId,
    });
    const outcome = await engine.merchants.ask(order.merchantId, command, timeoutMs);
    if (outcome.kind === "done") order.withdrawalId = command.withdrawalId;
    return outcome.kind;
  };
  const load = async (merchantId: string) => {
    while (run.isLoading) {
      const n = orders.length;
      const order = {
        merchantId,
        destination: addressOf(0xf0000000 + n),
        text: String(1 + draw.below(9)),
        referenceId: `order-${n}`,
        withdrawalId: null,
      };
      orders.push(order);
      await send(order, 5_000);
      const address = await engine.addressBook.take(NETWORK, merchantId).catch(() => null);
      if (address !== null) addresses.push(address.address);
      await delay(20 + draw.below(80));
    }
  };
  const mining = (async () => {
    while (run.isMining) {
      await mine(1, 1_000);
      await delay(150);
    }
  })();
  const loading = Promise.all(merchants.map(load));

  const served = () => orders.filter(({ withdrawalId }) => withdrawalId !== null).length;
  const first = 20 + draw.below(20);
  await until(() => served() >= first);
  await standby.stop();
  const last = served() + 2 + draw.below(20);
  await until(() => served() >= last);
  proxy.lead(null);
  await primary.kill9();
  await standby.start();
  await standby.promote();
  proxy.lead(Number(new URL(standby.url).port));
  await until(async () => await openHolds(sql) === 1);
  const before = orders.length;
  const wedged = () =>
    merchants.filter((merchantId) =>
      !orders.slice(before).some((order) =>
        order.merchantId === merchantId && order.withdrawalId !== null
      )
    );
  for (let look = 0; look < WEDGED_LOOKS && wedged().length > 0; look++) await delay(100);
  run.isLoading = false;
  await loading;
  const faults = wedged().map((merchantId) => `a merchant is wedged: ${merchantId}`);

  // every lost withdrawal is reported
  const acknowledged = orders.filter(({ withdrawalId }) => withdrawalId !== null);
  const kept = new Set(
    (await sql<{ id: string }[]>`SELECT id FROM book.withdrawal`).map(({ id }) => id),
  );
  const lost = acknowledged.filter(({ withdrawalId }) => !kept.has(withdrawalId ?? ""));
  await until(async () => (await sql`SELECT FROM hub.lost_commit`).length >= lost.length);
  const told = new Set(
    (await sql<
      { id: string }[]
    >`SELECT record_id AS id FROM hub.lost_commit WHERE kind = 'withdrawal'`)
      .map(({ id }) => id),
  );
  for (const { withdrawalId } of lost) {
    if (!told.has(withdrawalId ?? "")) faults.push(`lost and not told: ${withdrawalId}`);
  }

  // customers repeat what they do not find, and time passes on the chain
  for (const order of orders) {
    if (kept.has(order.withdrawalId ?? "")) continue;
    const kind = await send(order, 60_000);
    if (kind !== "done" && kind !== "refused") faults.push(`cannot be repeated: ${kind}`);
  }
  await until(async () =>
    (await sql`SELECT FROM hub.failover_network WHERE until_time IS NULL`).length === 0
  );
  run.isMining = false;
  await mining;
  await mine(2, 600_000);
  let matched = 0;
  let writtenOff = 0;
  const end = performance.now() + 300_000;
  for (;;) {
    await mine(1, 1_000);
    await delay(60);
    const waiting = await sql`
      SELECT FROM hub.failover_network WHERE compared_at IS NULL`;
    if (waiting.length === 0) {
      const verdicts = await decideAll(sql, engine);
      matched += verdicts.matched;
      writtenOff += verdicts.writtenOff;
    }
    const left = await sql`SELECT FROM book.outgoing WHERE status IN ('queued', 'signed', 'dead')`;
    if (left.length === 0 && await openHolds(sql) === 0) break;
    if (performance.now() > end) {
      faults.push(`${left.length} payouts or a hold do not end`);
      break;
    }
  }
  await mine(4, 1_000);
  for (const { destination, text, withdrawalId } of orders) {
    const held = formatAmount(await chain.balanceOf(destination, "USDT"));
    if (held === text || (held === "0" && withdrawalId === null)) continue;
    faults.push(`${destination} was to have ${text} and has ${held}`);
  }
  if (new Set(addresses).size < addresses.length) faults.push("an address was handed out twice");
  faults.push(...await booksFaults(sql));
  const [row] = await sql<{ adopted: number }[]>`
    SELECT count(*)::int AS adopted FROM hub.unknown_spend WHERE status = 'known'`;
  return {
    acknowledged: acknowledged.length,
    lost: lost.length,
    told: told.size,
    adopted: row?.adopted ?? 0,
    matched,
    writtenOff,
    addresses: addresses.length,
    faults,
  };
}

async function openHolds(sql: Sql): Promise<number> {
  try {
    const rows = await sql`SELECT FROM hub.failover WHERE ended_at IS NULL`;
    return rows.length;
  } catch {
    // the pool has not found the new primary yet
    return 0;
  }
}

/** Matches what a queued withdrawal fits, and writes the rest off. */
async function decideAll(sql: Sql, engine: Engine) {
  let matched = 0;
  let writtenOff = 0;
  for (const { txid, candidates } of await listUndecided(sql)) {
    const spends = await findUndecided(sql, txid);
    const [spend] = spends;
    if (spend === undefined) continue;
    const audit = { ...AUDIT, id: newId("aud"), merchantId: null, requestId: null };
    const withdrawalId = candidates[0]?.withdrawalId;
    const withdrawal = withdrawalId === undefined
      ? null
      : await findWithdrawalOwner(sql, withdrawalId);
    if (withdrawal === null) {
      await decideSpends(sql, spends, { kind: "written_off", reason: "its order is lost" }, audit);
      writtenOff++;
      continue;
    }
    const { id, merchantId } = withdrawal;
    const outcome = await engine.merchants.ask(merchantId, {
      type: "ingest-withdrawal",
      at: Date.now(),
      withdrawalId: id,
      settlementId: null,
      network: NETWORK,
      paidBy: { txid, height: spend.height, own: false },
      reason: null,
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
      ingestion: { eventId: `failover/${txid}`, bodyHash: id },
    }, 60_000);
    if (outcome.kind !== "done") continue;
    await decideSpends(sql, spends, { kind: "matched", merchantId, withdrawalId: id }, audit);
    matched++;
  }
  return { matched, writtenOff };
}
