import { FAUCET_LIFETIME_MS } from "../../devchain/faucet.ts";
import { delay } from "../../ledger/database/delay.ts";
import { passTime } from "../faults/support/pass_time.ts";
import { kindOf } from "./chain_kinds.ts";
import type { SoakWorld } from "./chain_world.ts";

/**
 * Waits until nothing of the merchants is in flight, nowhere.
 *
 * @param note told now and then what is left
 * @throws when that takes too long, with what is left
 */
export async function untilPeace(world: SoakWorld, note: (text: string) => void): Promise<void> {
  const end = Date.now() + world.options.peaceMs;
  let told = await world.chain.info();
  // what customers have sent is in a block by then, or can never be
  const died = Date.now() + FAUCET_LIFETIME_MS;
  while (told.pending > 0 && Date.now() < died) {
    await delay(100);
    told = await world.chain.info();
  }
  let hasPassed = false;
  for (let look = 0;; look++) {
    const left = await leftOver(world).catch((error: unknown) => [`no answer: ${error}`]);
    const unread = told.head - await scannedUpTo(world).catch(() => 0);
    if (left.length === 0 && unread <= 0) return;
    if (left.length > 0) told = await world.chain.info();
    else left.push(`${unread} blocks unread`);
    if (Date.now() > end) throw new Error(`Cannot end the run as work is left: ${left.join("; ")}`);
    if (!hasPassed && left.every((what) => what.endsWith("deposits PENDING"))) {
      hasPassed = true;
      await passVanished(world);
    }
    if (look % 20 === 19) note(`left: ${left.join("; ")}`);
    await delay(250);
  }
}

/** Lets block time pass in which a payment that has vanished is given up, where none expires before. */
async function passVanished({ chain, service, options }: SoakWorld): Promise<void> {
  const { expires, vanishesMs } = kindOf(options.network).family;
  if (expires) return;
  await chain.control("/dev/mine", { blocks: 2, intervalMs: vanishesMs });
  await passTime(service.sql, vanishesMs);
}

/** Work that is not done, as sentences; empty when nothing is in flight. */
async function leftOver({ service, merchants }: SoakWorld): Promise<string[]> {
  const ids = merchants.map(({ id }) => id);
  const rows = await service.sql<{ what: string; count: number }[]>`
    SELECT format('outgoing %s (%s)', status, coalesce(reason, '')) AS what, count(*)::int AS count
      FROM book.outgoing WHERE status NOT IN ('final', 'void') AND merchant_id = ANY(${ids}) GROUP BY 1
    UNION ALL SELECT format('deposits %s', status), count(*)::int
      FROM book.deposit WHERE status = 'PENDING' AND merchant_id = ANY(${ids}) GROUP BY 1
    UNION ALL SELECT format('withdrawals %s', status), count(*)::int
      FROM book.withdrawal WHERE status NOT IN ('CONFIRMED', 'FAILED') AND merchant_id = ANY(${ids}) GROUP BY 1
    UNION ALL SELECT format('inbox rows %s %s', phase, coalesce(quarantine, '')), count(*)::int
      FROM book.inbox WHERE (consumed_at IS NULL OR quarantine IS NOT NULL) AND merchant_id = ANY(${ids}) GROUP BY 1
    UNION ALL SELECT format('events %s', status), count(*)::int
      FROM book.outbox WHERE status <> 'DELIVERED' AND last_outcome IS DISTINCT FROM 'under_1_usd'
        AND merchant_id = ANY(${ids}) GROUP BY 1`;
  return rows.map(({ what, count }) => `${count} ${what}`);
}

async function scannedUpTo({ service: { sql }, options }: SoakWorld): Promise<number> {
  const [cursor] = await sql<{ height: string }[]>`
    SELECT height FROM hub.cursor WHERE network = ${options.network} AND view = 'solid'`;
  return Number(cursor?.height ?? 0);
}
