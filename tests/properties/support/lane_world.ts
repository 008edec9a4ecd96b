/**
 * One life of a lane: PostgreSQL, a chain that counts nonces, a signer, and a treasury that dies where it may. What is drawn
 * comes from a seed; the chain alone says afterwards what was paid.
 *
 * @module
 */

import { armCrashPoint, crashPoint } from "../../../actors/runtime/crash_point.ts";
import { Lanes } from "../../../actors/treasury/lanes.ts";
import { signQueued } from "../../../actors/treasury/sign_queued.ts";
import { CurrencyHolds } from "../../../actors/treasury/waits.ts";
import { recordBlocks } from "../../../actors/watcher/record_blocks.ts";
import type { Signer } from "../../../chains/signer.ts";
import type { AnySql, Sql } from "../../../ledger/database/connect.ts";
import type { InFlight } from "../../../ledger/treasury/in_flight.ts";
import { add, amountOf, formatAmount, ZERO } from "../../../ledger/money/amount.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { moveCursor, readCursor } from "../../../ledger/watcher/cursor.ts";
import { addMerchant } from "../../support/books.ts";
import { seeded } from "../../faults/support/seeded.ts";
import { nodeOf } from "../../support/node_of.ts";
import type { LaneChain, OpenLaneChain } from "./lane_chain.ts";
import { paperLaneChain } from "./paper_lane_chain.ts";

/** Deliberate bugs, each of which the model has to catch. */
export type Bug =
  | "forgets promises after a death"
  | "counts from the highest signature after a death"
  | "fills nothing"
  | "refunds what is signed";

/** Figures of a life. */
export interface LaneFigures {
  readonly intents: number;
  readonly paid: number;
  readonly superseded: number;
  readonly cancelled: number;
  readonly deaths: number;
}

/** Places at which a treasury dies. */
const DEATHS = [
  "treasury.after-pull",
  "treasury.after-promise",
  "treasury.after-promise",
  "treasury.after-sign",
  "treasury.after-commit",
  "treasury.after-broadcast",
  "treasury.after-replacement-sign",
  "treasury.after-cancel-commit",
] as const;
/** A place that no treasury passes: nothing dies there. */
const NOWHERE = "webhook.after-send";
const NETWORK: Network = "ETH";
const MOST_INTENTS = 25;
const STEPS = 100;
/** Turns after the storm in which everything has to end. */
const CALM_TURNS = 40;

/** The process is gone; nothing that it would do next happens. */
class Death extends Error {}

/** A treasury's process. */
interface Process {
  readonly lanes: Lanes;
  isDead: boolean;
}

/**
 * Lives one life in a database of its own.
 *
 * @param open the chain; default one on paper
 * @returns its figures
 * @throws where money is paid twice, given back and paid, left behind, or the books are not the chain's
 */
export async function liveLane(
  sql: Sql,
  seed: number,
  bug: Bug | null,
  open: OpenLaneChain = (draw) => paperLaneChain(NETWORK, draw),
): Promise<LaneFigures> {
  const draw = seeded(seed);
  const world = await LaneWorld.open(sql, await open(draw), draw, bug);
  for (let n = 0; n < STEPS; n++) await world.step();
  return await world.end();
}

class LaneWorld {
  readonly #sql: Sql;
  readonly #network: Network;
  readonly #draw: () => number;
  readonly #bug: Bug | null;
  readonly #chain: LaneChain;
  readonly #signer: Signer;
  readonly #merchants: readonly string[];
  #process: Process;
  #intents = 0;
  #deaths = 0;
  #suspended: string | null = null;

  private constructor(
    sql: Sql,
    chain: LaneChain,
    draw: () => number,
    bug: Bug | null,
    merchants: readonly string[],
  ) {
    this.#sql = sql;
    this.#network = NETWORK;
    this.#draw = draw;
    this.#bug = bug;
    this.#merchants = merchants;
    this.#chain = chain;
    const signer = chain.signer(sql);
    // what is never signed is never filled
    this.#signer = bug !== "fills nothing" ? signer : {
      sign: async (requests) =>
        (await signer.sign(requests)).map((answer, place) =>
          requests[place]?.purpose === "cancel"
            ? { outgoingIds: answer.outgoingIds, refused: "paused", message: "nothing is filled" }
            : answer
        ),
    };
    this.#process = this.#start();
  }

  static async open(
    sql: Sql,
    chain: LaneChain,
    draw: () => number,
    bug: Bug | null,
  ): Promise<LaneWorld> {
    await sql`
      INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint)
      VALUES (${NETWORK}, 'wal_test', ${chain.port.hotWallet}, ${"0".repeat(64)})`;
    const merchants = [];
    for (let n = 0; n < 3; n++) merchants.push(await addMerchant(sql));
    const world = new LaneWorld(sql, chain, draw, bug, merchants);
    await world.#scan(false);
    return world;
  }

  /** One thing happens. */
  async step(): Promise<void> {
    const chain = this.#chain;
    const drawn = this.#draw();
    if (drawn < 0.18) await this.#intend();
    else if (drawn < 0.24) await this.#giveUp();
    else if (drawn < 0.27) await this.#suspend(this.#pick(this.#merchants) ?? null);
    else if (drawn < 0.29) await this.#suspend(null);
    else if (drawn < 0.32) await chain.evict();
    else if (drawn < 0.36) await chain.jump(this.#pick([5, 10, 40, 120]) ?? 10);
    else if (drawn < 0.4) await chain.reorganise();
    else if (drawn < 0.58) await chain.mine();
    else if (drawn < 0.66) await this.#scan(true);
    else if (drawn < 0.71) await this.#look();
    else await this.#turn(true);
  }

  /** The storm is over: everything has to end, and to agree. */
  async end(): Promise<LaneFigures> {
    const chain = this.#chain;
    chain.calm();
    await chain.jump(10);
    await this.#suspend(null);
    for (let n = 0; n < CALM_TURNS; n++) {
      await this.#look();
      await this.#turn(false);
      await chain.mine();
      await this.#scan(false);
      if (n > 10 && await this.#isOver()) break;
    }
    await this.#check();
    return await this.#agree();
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#draw() * list.length)];
  }

  /** A payout, or a sweep that may share its transaction. */
  async #intend(): Promise<void> {
    if (this.#intents === MOST_INTENTS) return;
    const number = ++this.#intents;
    const id = `out_${this.#network}_${String(number).padStart(3, "0")}`;
    const { hotWallet } = this.#chain.port;
    const isSweep = this.#chain.shares && this.#draw() < 0.4;
    const reverts = this.#draw() < 0.1;
    const to = isSweep ? hotWallet : this.#chain.receiver(number);
    const from = isSweep ? `address-${number}` : hotWallet;
    this.#chain.intend(id, { from, to, amount: amountOf(String(number)), reverts });
    await this.#sql`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, payment_id, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
      VALUES (${id}, ${isSweep ? "mer_platform" : this.#pick(this.#merchants) ?? ""},
        ${isSweep ? "sweep" : "payout"}, ${
      isSweep ? null : `wd_${id}`
    }, ${this.#network}, 'USDT', ${number},
        ${isSweep ? String(number) : "hot"}, ${
      isSweep ? "hot" : "wallet"
    }, ${to}, 'queued', now(), now())`;
  }

  /** A merchant, or the sweeper, gives up what is queued: it moves the row from the state it has seen. */
  async #giveUp(): Promise<void> {
    const from = this.#bug === "refunds what is signed" ? "signed" : "queued";
    const rows = await this.#sql<{ id: string; nonce: string | null }[]>`
      SELECT id, nonce FROM book.outgoing WHERE network = ${this.#network} AND status = ${from} ORDER BY id`;
    const promised = rows.filter(({ nonce }) => nonce !== null);
    // what is promised and not signed is what a lane must not stand still for
    const id = this.#pick(promised.length > 0 ? promised : rows)?.id;
    if (id === undefined) return;
    await this.#unguarded(from === "signed", (tx) =>
      tx`
      UPDATE book.outgoing SET status = 'void', lease_until = NULL WHERE id = ${id} AND status = ${from}`);
  }

  async #suspend(merchantId: string | null): Promise<void> {
    if (this.#suspended !== null) {
      await this
        .#sql`UPDATE book.merchant SET status = 'ACTIVE' WHERE merchant_id = ${this.#suspended}`;
    }
    this.#suspended = merchantId;
    if (merchantId === null) return;
    await this
      .#sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${merchantId}`;
  }

  /** The watcher reads solid blocks, all of them or some. */
  async #scan(mayStop: boolean): Promise<void> {
    const { port } = this.#chain;
    for (;;) {
      const cursor = await readCursor(this.#sql, this.#network, "solid");
      const height = cursor === null ? this.#chain.firstHeight : cursor.height + 1;
      if (height > await this.#chain.solidHeight()) break;
      const block = await this.#chain.block(height);
      if (cursor !== null) await recordBlocks(this.#sql, port, [block], "solid");
      const place = {
        ...block,
        previousTime: block.time - 1_000,
        previousTick: block.tick - 1_000,
      };
      await moveCursor(this.#sql, this.#network, "solid", cursor, place, 1);
      if (mayStop && this.#draw() < 0.1) break;
    }
    // a merchant hears that its payout has failed, and gives it back
    await this.#sql`
      UPDATE book.outgoing o SET status = 'void' FROM book.inbox i
      WHERE o.network = ${this.#network} AND o.status = 'dead' AND i.phase = 'outcome'
        AND i.data->>'outgoingId' = o.id AND i.merchant_id = o.merchant_id`;
    await this.#check();
  }

  /** The watcher looks at blocks that may still vanish. */
  async #look(): Promise<void> {
    const seen = await this.#chain.seen();
    await this.#sql`
      UPDATE book.attempt a SET seen_height = f.height FROM (
        SELECT b.outgoing_id, b.number, s.height FROM book.attempt b
        LEFT JOIN unnest(${seen.map(({ txid }) => txid)}::text[],
          ${seen.map(({ height }) => height)}::bigint[]) AS s(txid, height) ON s.txid = b.txid
        WHERE b.network = ${this.#network} AND b.outcome IS NULL) f
      WHERE a.outgoing_id = f.outgoing_id AND a.number = f.number`;
  }

  /** A process that has just begun. */
  #start(): Process {
    const process: { lanes: Lanes | null; isDead: boolean } = { lanes: null, isDead: false };
    const sql = mortal(this.#sql, () => process.isDead);
    const lanes = new Lanes(this.#chain.port, laneOf(this.#chain), {
      sql,
      signer: this.#signer,
      node: "node",
      leaseMs: 60_000,
      resendMs: 0,
      suspendedMs: 0,
      monotonic: () => performance.now(),
      now: Date.now,
      send: async (transactions) => {
        // a process that is killed sends nothing in the blocks that end its calls
        if (process.isDead) throw new Death();
        await this.#send(transactions);
      },
    });
    process.lanes = lanes;
    return process as Process;
  }

  async #send(transactions: readonly Pick<InFlight, "txid" | "bytes">[]): Promise<void> {
    for (const { txid, bytes } of transactions) {
      await this.#chain.port.broadcast({ txid, bytes, expiresAt: null });
      crashPoint("treasury.after-broadcast");
    }
  }

  /** One turn of the treasury, which may die in it. */
  async #turn(mayDie: boolean): Promise<void> {
    // pauses of transfers are a matter of time, of which there is none here
    await this.#sql`
      UPDATE book.outgoing SET lease_until = NULL, reason = NULL
      WHERE network = ${this.#network} AND status = 'queued' AND lease_until IS NOT NULL`;
    const process = this.#process;
    const dies = mayDie && this.#draw() < 0.35;
    const point = this.#pick(DEATHS) ?? DEATHS[0];
    armCrashPoint(dies ? `${point}@${1 + Math.floor(this.#draw() * 2)}` : NOWHERE, () => {
      if (!dies) return;
      process.isDead = true;
      throw new Death();
    });
    try {
      const sql = mortal(this.#sql, () => process.isDead);
      const { port } = this.#chain;
      await process.lanes.poll(await readCursor(sql, this.#network, "solid"));
      for (const queue of ["merchants", "internal"] as const) {
        const room = Math.min(4, process.lanes.room("hot"));
        if (room === 0) break;
        const leftAlone = { holds: new CurrencyHolds(), held: [], silent: new Set<never>() };
        const deps = nodeOf(sql, port, { signer: this.#signer });
        const { transactions } = await signQueued(
          port,
          deps,
          room,
          queue,
          leftAlone,
          process.lanes,
        );
        await this.#send(transactions);
      }
    } catch (error) {
      if (!process.isDead) throw error;
    }
    if (!process.isDead) return;
    this.#deaths++;
    await this.#forget();
    this.#process = this.#start();
    // what it had promised may be given up before the next one looks
    if (this.#draw() < 0.4) await this.#giveUp();
  }

  /** The bugs that begin with a death. */
  async #forget(): Promise<void> {
    const network = this.#network;
    if (this.#bug === "forgets promises after a death") {
      await this.#unguarded(true, (tx) =>
        tx`
        UPDATE book.outgoing SET nonce = NULL WHERE network = ${network} AND status = 'queued'`);
    } else if (this.#bug === "counts from the highest signature after a death") {
      await this.#unguarded(true, (tx) =>
        tx`
        DELETE FROM book.lane_nonce n WHERE n.network = ${network} AND n.used_by IS NULL AND n.nonce > coalesce(
          (SELECT max(a.nonce) FROM book.attempt a WHERE a.network = ${network}), ${
          this.#chain.firstNonce - 1
        })`);
    }
  }

  /** Does something; where it is a bug, without the rules of the schema, which would refuse it. */
  async #unguarded(isBug: boolean, work: (tx: AnySql) => Promise<unknown>): Promise<void> {
    await this.#sql.begin(async (tx) => {
      if (isBug) await tx`SET LOCAL session_replication_role = replica`;
      await work(tx);
    });
  }

  async #isOver(): Promise<boolean> {
    const rows = await this.#sql`
      SELECT FROM book.outgoing WHERE network = ${this.#network} AND status NOT IN ('final', 'void')
      UNION ALL SELECT FROM book.lane_nonce WHERE network = ${this.#network} AND used_by IS NULL`;
    return rows.length === 0;
  }

  /** The rules that hold at every moment. */
  async #check(): Promise<void> {
    const paid = new Map<string, number>();
    for (const { moved } of await this.#chain.landed()) {
      for (const id of moved) paid.set(id, (paid.get(id) ?? 0) + 1);
    }
    const rows = await this.#sql<{ id: string; status: string; nonces: number }[]>`
      SELECT o.id, o.status, (
        SELECT count(DISTINCT a.nonce)::int FROM book.attempt a
        WHERE a.outgoing_id = o.id AND a.outcome IS NULL AND a.purpose = 'pay') AS nonces
      FROM book.outgoing o WHERE o.network = ${this.#network}`;
    for (const { id, status, nonces } of rows) {
      const times = paid.get(id) ?? 0;
      if (times > 1) throw new Error(`${id} is paid ${times} times`);
      if (status === "void" && times > 0) throw new Error(`${id} is given back and paid`);
      if (status === "final" && times !== 1) throw new Error(`${id} is final and not paid`);
      if (nonces > 1) throw new Error(`${id} has two living nonces`);
    }
  }

  /** After the storm: every lane is empty, and the books are what the chain says. */
  async #agree(): Promise<LaneFigures> {
    const network = this.#network;
    const left = await this.#sql<{ id: string; status: string; nonce: string | null }[]>`
      SELECT id, status, nonce FROM book.outgoing WHERE network = ${network} AND status NOT IN ('final', 'void')`;
    const open = await this.#sql<{ nonce: string }[]>`
      SELECT nonce FROM book.lane_nonce WHERE network = ${network} AND used_by IS NULL`;
    if (left.length + open.length > 0) {
      throw new Error(`stuck: ${JSON.stringify([...left, ...open])}`);
    }
    const used = await this.#sql<{ nonce: number; txid: string }[]>`
      SELECT nonce::int, used_by AS txid FROM book.lane_nonce WHERE network = ${network} ORDER BY nonce`;
    const landed = await this.#chain.landed();
    const shown = landed.map(({ nonce, txid }) => ({ nonce, txid }));
    const books = JSON.stringify([...used]);
    if (books !== JSON.stringify(shown)) {
      throw new Error(`the books are not the chain's: ${books} and ${JSON.stringify(shown)}`);
    }
    const [sums] = await this.#sql<
      { fees: string; superseded: number; cancelled: number; paid: number }[]
    >`
      SELECT trim_scale(coalesce(sum(fee), 0))::text AS fees,
        count(DISTINCT txid) FILTER (WHERE outcome = 'superseded')::int AS superseded,
        count(DISTINCT txid) FILTER (WHERE outcome = 'cancelled')::int AS cancelled,
        count(*) FILTER (WHERE outcome = 'paid')::int AS paid
      FROM book.attempt WHERE network = ${network}`;
    const cost = formatAmount(landed.reduce((sum, { fee }) => add(sum, fee), ZERO));
    if (sums === undefined || sums.fees !== cost) {
      throw new Error(`fees of ${cost} are ${sums?.fees} in the books`);
    }
    const { superseded, cancelled, paid } = sums;
    return { intents: this.#intents, paid, superseded, cancelled, deaths: this.#deaths };
  }
}

function laneOf({ port }: LaneChain) {
  const { life } = port.capabilities;
  if (life.kind !== "nonce") throw new Error("Cannot find a lane as the chain counts no nonces");
  return life.lane;
}

/** Connections of a process: once it is dead it asks nothing any more. */
function mortal(sql: Sql, isDead: () => boolean): Sql {
  const check = () => {
    if (isDead()) throw new Death();
  };
  return new Proxy(sql, {
    apply(target, self, args) {
      check();
      return Reflect.apply(target, self, args);
    },
    get(target, name) {
      if (name === "begin") check();
      return Reflect.get(target, name, target);
    },
  });
}
