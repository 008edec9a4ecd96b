/** A lane whose chain takes everything, and the parts that look after it. @module */

import { Lanes } from "../../../actors/treasury/lanes.ts";
import { UnprovenHands } from "../../../actors/treasury/prove_hands.ts";
import { signQueued } from "../../../actors/treasury/sign_queued.ts";
import { CurrencyHolds } from "../../../actors/treasury/waits.ts";
import { recordBlocks } from "../../../actors/watcher/record_blocks.ts";
import type { Signer } from "../../../chains/signer.ts";
import type { Limits } from "../../../chains/signer/signing_rules.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { promiseNonces } from "../../../ledger/lanes/promise_nonces.ts";
import { takeTurn } from "../../../ledger/lanes/take_turn.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { moveCursor, readCursor } from "../../../ledger/watcher/cursor.ts";
import { CountingChain } from "../../properties/support/counting_chain.ts";
import { countingSigner } from "../../properties/support/counting_signer.ts";
import { addMerchant } from "../../support/books.ts";
import { nodeOf } from "../../support/node_of.ts";

export const LANE_NETWORK: Network = "ETH";

/** See {@linkcode openLane}. */
export type TestLane = Awaited<ReturnType<typeof openLane>>;

/** Opens a lane of a network whose chain counts nonces. @param limits the signer's caps */
export async function openLane(sql: Sql, limits: Limits = {}) {
  const chain = new CountingChain(LANE_NETWORK, 7, () => 0.9, Date.now());
  chain.isCalm = true;
  const { port } = chain;
  const { life } = port.capabilities;
  if (life.kind !== "nonce") throw new Error("Cannot open a lane of a chain that counts none");
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint)
    VALUES (${LANE_NETWORK}, 'wal_test', 'hot-wallet', ${"0".repeat(64)})`;
  const merchantId = await addMerchant(sql);
  const signer = countingSigner(sql, LANE_NETWORK, limits);
  const send = async (bytes: readonly string[]) => {
    for (const one of bytes) await port.broadcast({ txid: "", bytes: one, expiresAt: null });
  };
  const { lane } = life;
  const lanesOf = (node: string, own: Signer) =>
    new Lanes(port, lane, {
      sql,
      signer: own,
      node,
      leaseMs: 60_000,
      resendMs: 0,
      monotonic: () => performance.now(),
      now: Date.now,
      send: (transactions) => send(transactions.map(({ bytes }) => bytes)),
    });
  const turnOf = async (node: string, own: Signer, lanes: Lanes) => {
    const solid = await readCursor(sql, LANE_NETWORK, "solid");
    await lanes.poll(solid);
    await lanes.pollAddresses(solid);
    const room = lanes.room("hot");
    if (room === 0) return 0;
    const leftAlone = { holds: new CurrencyHolds(), held: [], silent: new Set<never>() };
    const deps = nodeOf(sql, port, { node, signer: own });
    const { transactions } = await signQueued(port, deps, room, "merchants", leftAlone, lanes);
    await send(transactions.map(({ bytes }) => bytes));
    return transactions.length;
  };
  const lanes = lanesOf("node", signer);
  const unproven = new UnprovenHands(() => clock.now);
  const clock = { now: 0 };
  const prove = () => unproven.look({ sql, chain: port, stopped: null });
  const scan = async () => {
    for (;;) {
      const cursor = await readCursor(sql, LANE_NETWORK, "solid");
      const height = (cursor?.height ?? 0) + 1;
      if (height > chain.solidHeight) return;
      const block = chain.block(height);
      if (cursor !== null) await recordBlocks(sql, port, [block], "solid");
      const place = { ...block, previousTime: block.time - 1, previousTick: block.tick - 1 };
      await moveCursor(sql, LANE_NETWORK, "solid", cursor, place, 1);
    }
  };
  await scan();
  return {
    chain,
    signer,
    clock,
    lanes,
    scan,
    /** Looks at the signatures of what was read. */
    prove,
    /** A payout that waits. */
    async addPayout(id: string, amount = "5", to = `customer-${id}`) {
      chain.intended.set(id, { from: "hot-wallet", to, amount: amountOf(amount), reverts: false });
      await sql`
        INSERT INTO book.outgoing
          (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
        VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, ${LANE_NETWORK}, 'USDT', ${amount}, ${to}, 'queued', now(), now())`;
    },
    /** Promises the next nonce to a payout; nothing is signed with it. */
    async promise(id: string) {
      const held = await takeTurn(sql, LANE_NETWORK, "node", 60_000);
      if (held === null) throw new Error("Cannot promise as another node has the turn");
      const wanted = [{ place: 0, outgoingId: id, merchantId, first: null }];
      const promised = await promiseNonces(sql, LANE_NETWORK, wanted, held);
      if (promised?.length !== 1) throw new Error(`Cannot promise a nonce to ${id}`);
    },
    /** A turn of the treasury. @returns how many transactions it has signed for the first time */
    turn: () => turnOf("node", signer, lanes),
    /** A turn of another node, with a signer of its own; the first one's turn is over. */
    async turnOfOther(own: Signer) {
      await sql`UPDATE book.signing_turn SET until = now() - interval '1 second'`;
      const signed = await turnOf("other", own, lanesOf("other", own));
      await sql`UPDATE book.signing_turn SET until = now() - interval '1 second'`;
      return signed;
    },
    /** Makes blocks until what they hold is solid, and reads them. */
    async settle() {
      for (let n = 0; n < 5; n++) chain.mine();
      await scan();
      await prove();
    },
    /** Goes on until nothing is under way. */
    async finish() {
      for (let round = 0; round < 20; round++) {
        await this.turn();
        await this.settle();
        const [row] =
          await sql`SELECT FROM book.outgoing WHERE status IN ('queued', 'signed') LIMIT 1`;
        if (row === undefined) return;
      }
    },
    /** Each transfer with its status and nonce. */
    async states() {
      const rows = await sql<{ id: string; status: string; nonce: number | null }[]>`
        SELECT id, status, nonce::int FROM book.outgoing ORDER BY id`;
      return rows.map(({ id, status, nonce }) => `${id} ${status} ${nonce}`);
    },
  };
}
