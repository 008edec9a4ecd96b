import { assert, assertEquals } from "@std/assert";
import { amountOf, toTokenUnits } from "../../../ledger/money/amount.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import { eventually } from "./client.ts";
import { NODE_MS } from "./patience.ts";
import {
  faultsOn,
  holdSolid,
  instead,
  reorganise,
  treasuryOf,
  untilInFlight,
  untilSent,
} from "./matrix_moments.ts";
import type { Rig } from "./matrix_rig.ts";
import {
  DEPOSIT,
  isRead,
  mineWhenRead,
  newDeposit,
  pay,
  type Subject,
  until,
} from "./matrix_subject.ts";
import type { Does, Step } from "./matrix_table.ts";

/** The steps of a sweep, each up to the moment at which the node is at peace again. */
export const SWEEP_STEPS = {
  "sweep plan": async (rig, does) => {
    const subject = await seen(rig);
    await rig.setPlanning(false);
    await rig.mine(4);
    await untilReason(rig, subject, ["paused"]);
    // a reorganisation needs a moment at which the step is under way
    await rig.setFaults(faultsOn(rig.family.paths.plan, instead(does)));
    await rig.setPlanning(true);
    // one that is behind answers, with what the address held before
    const isBehind = "kind" in does && does.kind === "finality-back";
    await untilReason(rig, subject, [isBehind ? "balance_differs" : "chain_unavailable"]);
    if ("reorganise" in does) await reorganise(rig, does.reorganise);
    return subject;
  },
  "sweep gas": async (rig, does) => {
    const subject = await seen(rig);
    await rig.setFaults(faultsOn([rig.family.paths.broadcast], does));
    await rig.mine(4);
    if ("reorganise" in does) {
      await untilSent(rig);
      await rig.mine(1);
      await reorganise(rig, does.reorganise);
    } else await rig.untilHit();
    await untilInFlight(
      rig,
      ({ kind, destination }) => kind === "gas" && destination === subject.address,
    );
    await untilReason(rig, subject, ["waiting_gas", "address_not_activated"]);
    return subject;
  },
  "sweep broadcast": async (rig, does) => {
    const subject = await seen(rig);
    if (rig.family.sweepBy === "delegate") {
      await rig.setFaults(faultsOn([rig.family.paths.broadcast], does));
      await rig.mine(4);
    } else {
      await rig.mine(4);
      await untilSent(rig);
      // the coin is on its way: what is sent for the first time from here on is the sweep
      await rig.setFaults(faultsOn([rig.family.paths.broadcast], does));
    }
    await untilSweepSigned(rig, subject);
    if ("reorganise" in does) {
      await untilSent(rig);
      await rig.mine(1);
      await reorganise(rig, does.reorganise);
    } else if (rig.family.expires) await rig.untilHitAgain();
    // there what waits already is not taken a second time, so that its fault happens once
    else await rig.untilHit();
    await untilInFlight(rig, ({ kind }) => kind === "sweep");
    await untilReason(rig, subject, ["in_flight"]);
    return subject;
  },
  "sweep solid": async (rig, does) => {
    const subject = await seen(rig);
    await rig.mine(4);
    await untilSweepSigned(rig, subject);
    await untilSent(rig);
    if (rig.family.keepsHead) {
      // what the head view has read is not read again: its block is kept from both
      await holdSolid(rig, does, 5);
    } else {
      await rig.mine(1);
      await holdSolid(rig, does);
    }
    await untilInFlight(rig, ({ kind }) => kind === "sweep");
    await untilReason(rig, subject, ["in_flight"]);
    return subject;
  },
} as const satisfies Readonly<
  Partial<Record<Step, (rig: Rig, does: Does) => Promise<Subject>>>
>;

/**
 * Waits until everything of an address is in the hot wallet, and compares: carried once, by one
 * transaction, with no more helpers than sweeps were tried.
 */
export async function assertSwept(rig: Rig, subject: Subject): Promise<void> {
  const { sql, hotWallet, family: { network, sweepBy, expires } } = rig;
  await eventually(`${subject.address} swept`, async () => {
    const rows = await sql<{ done: boolean }[]>`
      SELECT done FROM book.sweep_item WHERE address = ${subject.address}`;
    if (rows.length > 0 && rows.every(({ done }) => done)) return true;
    await mineWhenRead(rig);
    return false;
  }, NODE_MS);
  const transfers = await rig.family.readTransfers(rig.chainUrl, subject.since);
  const carried = transfers.filter(({ from }) => from === subject.address);
  assertEquals(
    carried.map(({ to, units }) => [to, units]),
    [[hotWallet, toTokenUnits(amountOf(DEPOSIT), tokenDecimals("USDT", network))]],
    "carried to the hot wallet",
  );
  const steps = await stepsOf(rig, subject);
  const count = (kind: string, status: string) =>
    steps.filter((step) => step.kind === kind && step.status === status).length;
  assertEquals(count("sweep", "final"), 1, "sweeps that landed");
  const tried = count("sweep", "final") + count("sweep", "void");
  const helpers = count("gas", "final");
  // what a failed sweep has left of its coin may be enough for the next one
  const isHelped = expires ? helpers === tried : 1 <= helpers && helpers <= tried;
  // the hot wallet's own sweeps need none
  assert(
    sweepBy === "delegate" ? helpers === 0 : isHelped,
    `${helpers} helpers of ${tried} sweeps`,
  );
  assertEquals(steps.filter(({ status }) => !["final", "void"].includes(status)), []);
}

const setUps = new WeakMap<Rig, Promise<void>>();

/** The hot wallet creates the contract that it sweeps by, with the first sweep of a rig. */
async function setUp(rig: Rig): Promise<void> {
  const first = await newDeposit(rig);
  await pay(rig, first);
  await rig.mine(4);
  await assertSwept(rig, first);
}

/** A deposit that is seen; once it is solid its address is to be swept. */
async function seen(rig: Rig): Promise<Subject> {
  if (rig.family.sweepBy === "delegate") {
    const ready = setUps.get(rig) ?? setUp(rig);
    setUps.set(rig, ready);
    await ready;
  }
  const subject = await newDeposit(rig);
  await pay(rig, subject);
  await rig.mine(1);
  await until(rig, subject, "PENDING", "waiting");
  return subject;
}

/** Waits until the treasury shows one of the reasons for an address that is not swept yet. */
async function untilReason(rig: Rig, subject: Subject, reasons: readonly string[]): Promise<void> {
  const shown = new Set<string>();
  try {
    await eventually(`${subject.address}: ${reasons.join(" or ")}`, async () => {
      const { sweeps } = await treasuryOf(rig);
      const found = sweeps.addresses.find(({ address }) => address === subject.address);
      shown.add(found?.reason ?? "none");
      return found !== undefined && reasons.includes(found.reason);
    }, NODE_MS);
  } catch (cause) {
    const seen = [...shown].join(", ");
    throw new Error(`Cannot go on as the address showed other reasons: ${seen}`, { cause });
  }
}

/** Makes blocks until the coin has arrived and the sweep is signed; what the hot wallet sends waits for none. */
async function untilSweepSigned(rig: Rig, subject: Subject): Promise<void> {
  await eventually(`a sweep of ${subject.address}`, async () => {
    // asked before the steps: what these do not show as final then needs another block, and only then is one made, as
    // one that is made beside a final helper may take the sweep out of the pool before anything looks for it there
    const wasRead = await isRead(rig);
    const steps = await stepsOf(rig, subject);
    if (steps.some(({ kind, attempts }) => kind === "sweep" && attempts > 0)) return true;
    const isHelped = steps.some(({ kind, status }) => kind === "gas" && status === "final");
    if (rig.family.sweepBy !== "delegate" && wasRead && !isHelped) await rig.mine(1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    return false;
  }, NODE_MS);
}

/** Sweeps of an address and what they needed. */
async function stepsOf({ sql, family: { network } }: Rig, { address }: Subject) {
  return await sql<{ kind: string; status: string; attempts: number }[]>`
    SELECT o.kind, o.status, o.attempts FROM book.outgoing o
    WHERE o.merchant_id = 'mer_platform' AND (o.destination = ${address} OR o.wallet =
      (SELECT wallet_index::text FROM hub.address WHERE network = ${network} AND address = ${address}))
    ORDER BY o.id`;
}
