import { assertEquals } from "@std/assert";
import { eventually } from "./client.ts";
import { NODE_MS } from "./patience.ts";
import {
  BROADCAST,
  type Does,
  faultsOn,
  holdSolid,
  reorganise,
  treasuryOf,
  untilInFlight,
  untilRead,
  untilSent,
} from "./matrix_moments.ts";
import type { Rig } from "./matrix_rig.ts";
import { newDeposit, newPayout, pay, type Subject, until, withdraw } from "./matrix_subject.ts";
import { assertEnd, LEAP_MS } from "./matrix_ends.ts";
import { SWEEP_STEPS } from "./matrix_sweeps.ts";
import { KINDS, type LiveCell, type Step } from "./matrix_table.ts";

/**
 * Lifetime of a payment that is to vanish: less than the time that is let pass until it has expired. A
 * payment that comes back after a reorganisation has the usual one, or a slow machine would see it expire.
 */
const VANISHING_MS = LEAP_MS - 10_000;
const HEAD_READS = [
  "/wallet/getblock",
  "/wallet/getnowblock",
  "/wallet/getblockbynum",
  "/wallet/getblockbylimitnext",
  "/wallet/gettransactioninfobyblocknum",
];
const SOLID_STATE = [
  "/walletsolidity/getblock",
  "/walletsolidity/getnowblock",
  "/walletsolidity/getaccount",
  "/walletsolidity/triggerconstantcontract",
];
/** Carries one cell out: the fault at its step, its visibility, peace, and the end. */
export async function tryCell(rig: Rig, { step, kind, end }: LiveCell): Promise<void> {
  const subject = await STEPS[step](rig, KINDS[kind].does);
  await rig.setFaults([]);
  await assertEnd(rig, subject, end);
}

const STEPS: Readonly<Record<Step, (rig: Rig, does: Does) => Promise<Subject>>> = {
  "deposit seen": async (rig, does) => {
    const subject = await newDeposit(rig);
    if ("reorganise" in does) {
      await pay(rig, subject, does.reorganise === "drop" ? VANISHING_MS : undefined);
      await rig.mine(1);
      await until(rig, subject, "PENDING", "waiting");
      await reorganise(rig, does.reorganise);
      return subject;
    }
    if (does.kind === "revert") {
      await rig.control("/dev/emit", {
        steps: [{ do: "transfer", to: subject.address, amount: "100000000" }, { do: "revert" }],
      });
      await rig.mine(5);
      await untilRead(rig);
      return subject;
    }
    await rig.setFaults(faultsOn(HEAD_READS, does));
    await pay(rig, subject);
    await rig.mine(1);
    await rig.untilHit();
    await eventually("the head standing in the metrics", async () => {
      const [seen, { head }] = await Promise.all([
        rig.metric("engine_chain_head_height"),
        rig.info(),
      ]);
      return seen !== null && seen < head;
    }, NODE_MS);
    await rig.setFaults([]);
    await until(rig, subject, "PENDING", "waiting");
    return subject;
  },
  "deposit solid": async (rig, does) => {
    const subject = await newDeposit(rig);
    await pay(rig, subject);
    await rig.mine(1);
    await until(rig, subject, "PENDING", "waiting");
    await holdSolid(rig, does);
    return subject;
  },
  "deposit credited": async (rig, does) => {
    const subject = await newDeposit(rig);
    await pay(rig, subject);
    await rig.mine(1);
    await until(rig, subject, "PENDING", "waiting");
    const released = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    // the merchant's account is held until its inbox has the transfer and the node fails
    const holding = rig.sql.begin(async (tx) => {
      await tx`SELECT FROM book.account WHERE merchant_id = ${subject.merchantId} FOR UPDATE`;
      held.resolve();
      await released.promise;
    });
    await held.promise;
    try {
      await rig.mine(4);
      await eventually("the transfer in the inbox", async () => {
        const rows = await rig.sql`
          SELECT FROM book.inbox WHERE txid = ${subject.txid} AND phase = 'solid'`;
        return rows.length > 0;
      }, NODE_MS);
      await rig.setFaults(faultsOn(["*"], does));
    } finally {
      released.resolve();
      await holding;
    }
    await until(rig, subject, "CONFIRMED", "waiting");
    assertEquals((await rig.info()).faults.length, 1, "the node still fails");
    return subject;
  },
  "payout estimate": (rig, does) =>
    queuedWhile(rig, does, ["/wallet/triggerconstantcontract", "/wallet/getchainparameters"]),
  "payout sign": (rig, does) => queuedWhile(rig, does, SOLID_STATE),
  "payout broadcast": async (rig, does) => {
    const subject = await newPayout(rig);
    if (!("reorganise" in does)) await rig.setFaults(faultsOn([BROADCAST], does));
    await withdraw(rig, subject);
    if ("reorganise" in does) {
      await untilSent(rig);
      await reorganise(rig, does.reorganise);
    } else await rig.untilHit();
    await untilInFlight(rig, ({ paymentId }) => paymentId === subject.paymentId);
    return subject;
  },
  "payout seen": async (rig, does) => {
    const subject = await newPayout(rig);
    await withdraw(rig, subject);
    await untilSent(rig);
    if ("reorganise" in does) {
      await rig.mine(1);
      await reorganise(rig, does.reorganise);
    } else {
      await rig.setFaults(faultsOn(HEAD_READS, does));
      await rig.mine(1);
      await rig.untilHit();
    }
    await untilInFlight(rig, ({ paymentId }) => paymentId === subject.paymentId);
    return subject;
  },
  "payout solid": async (rig, does) => {
    const subject = await newPayout(rig);
    await withdraw(rig, subject);
    await untilSent(rig);
    await rig.mine(1);
    await holdSolid(rig, does);
    await untilInFlight(rig, ({ paymentId }) => paymentId === subject.paymentId);
    return subject;
  },
  ...SWEEP_STEPS,
};

/** The queue holds a payout for as long as the node fails, and says why. */
async function queuedWhile(rig: Rig, does: Does, paths: readonly string[]): Promise<Subject> {
  const subject = await newPayout(rig);
  // a reorganisation needs a moment at which the step is under way
  await rig.setFaults(faultsOn(paths, "reorganise" in does ? { kind: "error-500" } : does));
  await withdraw(rig, subject);
  await rig.untilHit();
  await eventually("the payout queued, with a reason", async () => {
    const { queued } = await treasuryOf(rig);
    return queued.some(({ paymentId, reason }) =>
      paymentId === subject.paymentId && reason !== null
    );
  }, NODE_MS);
  if ("reorganise" in does) await reorganise(rig, does.reorganise);
  return subject;
}
