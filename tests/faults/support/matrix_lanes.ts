import { assertEquals } from "@std/assert";
import { readSigningStop } from "../../../ledger/failover/holds.ts";
import { z } from "zod";
import { eventually, send } from "./client.ts";
import { untilQueued, untilSent } from "./matrix_moments.ts";
import type { Rig } from "./matrix_rig.ts";
import { type Subject, withdraw } from "./matrix_subject.ts";
import type { Happening } from "./matrix_table.ts";
import { NODE_MS } from "./patience.ts";

/** More than the cap allows of any transfer, gwei. */
const ABOVE_CAP = "5000";
/** More than a transaction offers that was priced before, and far below the cap, gwei. */
const EIGHT_TIMES = "8";
/** Coin that a dry wallet is given. */
const COIN = "10";

const Sent = z.object({ txid: z.string() });
const Found = z.object({ result: z.unknown() });

/** Blocks ask for so much from now on, gwei; null: for as much as at the beginning. */
export async function setFees({ control, family: { baseFee } }: Rig, gwei: string | null) {
  const wanted = gwei ?? baseFee;
  if (wanted !== null) await control("/dev/basefee", { gwei: wanted });
}

/** Blocks pass over what was offered at the usual price. */
export async function raiseFees(rig: Rig): Promise<void> {
  await setFees(rig, EIGHT_TIMES);
}

/** Has a payout wait in the queue for what its transfer cannot be paid with, until that is there. */
export async function queueUntilPayable(
  rig: Rig,
  subject: Subject,
  what: Happening,
): Promise<void> {
  if (what === "fees above cap") await setFees(rig, ABOVE_CAP);
  await withdraw(rig, subject);
  await untilQueued(rig, subject);
  if (what === "fees above cap") return await setFees(rig, null);
  if (what !== "no coin") throw new Error(`Cannot queue a payout by: ${what}`);
  await rig.control("/dev/transfer", { to: rig.hotWallet, amount: COIN, currency: "coin" });
}

/** Makes something happen to a payout that was sent for the first time. */
export async function happen(rig: Rig, subject: Subject, what: Happening): Promise<void> {
  switch (what) {
    case "evicted":
      await untilSent(rig);
      return await evictNewest(rig, subject);
    case "fees jump":
      await untilSent(rig);
      await raiseFees(rig);
      await rig.mine(1);
      return await untilReplaced(rig, subject);
    case "fees above cap":
      await untilSent(rig);
      await setFees(rig, ABOVE_CAP);
      await rig.mine(1);
      await eventually(
        "a fee above the cap in the metrics",
        async () => await rig.metric("engine_treasury_fee_capped") === 1,
        NODE_MS,
      );
      return await setFees(rig, null);
    case "foreign hand":
      return await takeNonce(rig);
    default:
      throw new Error(`Cannot happen to what was sent: ${what}`);
  }
}

/** Waits until a payout has a second transaction, which the node has taken where that is wanted. */
export async function untilReplaced(
  rig: Rig,
  subject: Subject,
  isTaken = false,
): Promise<void> {
  await eventually("a replacement", async () => {
    const txids = await txidsOf(rig, subject);
    return txids.length > 1 && (!isTaken || await isKnown(rig, txids.at(-1) ?? ""));
  }, NODE_MS);
}

/** Drops the newest transaction of a payout from the pool. */
export async function evictNewest(rig: Rig, subject: Subject): Promise<void> {
  await eventually("a transaction evicted", async () => {
    const txid = (await txidsOf(rig, subject)).at(-1);
    return (await send(`${rig.chainUrl}/dev/evict`, "POST", { txid })).status === 200;
  }, NODE_MS);
}

/** Another program with the key takes the nonce, which stops signing, and an administrator adopts it. */
async function takeNonce(rig: Rig): Promise<void> {
  const { sql, family: { network } } = rig;
  await rig.untilHit();
  const { body } = await rig.control("/dev/use-nonce", { key: rig.hotKey });
  const { txid } = Sent.parse(body);
  await rig.mine(5);
  await eventually("signing stopped, and told", async () => {
    const { body } = await rig.api.call("GET", "/readyz");
    return await readSigningStop(sql, network) !== null &&
      JSON.stringify(body).includes(`${network} payouts are stopped`);
  }, NODE_MS);
  const key = await rig.api.addKey(null, { permissions: ["admin:treasury"] });
  const shown = await rig.api.call("POST", "/api/admin/treasury/sender", {
    key,
    body: { network, txid },
  });
  assertEquals([shown.status, shown.body.isHotWallet], [200, true], JSON.stringify(shown.body));
  const adopted = await rig.api.call("POST", "/api/admin/treasury/adopt", {
    key,
    body: { network, txid, nonce: shown.body.nonce, reason: "tried" },
  });
  assertEquals(adopted.status, 200, JSON.stringify(adopted.body));
}

/** Ids of a payout's transactions, the newest last. */
async function txidsOf({ sql }: Rig, { paymentId }: Subject): Promise<readonly string[]> {
  const rows = await sql<{ txid: string }[]>`
    SELECT a.txid FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
    WHERE o.payment_id = ${paymentId} ORDER BY a.number`;
  return rows.map(({ txid }) => txid);
}

async function isKnown({ chainUrl }: Rig, txid: string): Promise<boolean> {
  const call = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionByHash", params: [txid] };
  const { result } = Found.parse((await send(chainUrl, "POST", call)).body);
  return result !== null && result !== undefined;
}
