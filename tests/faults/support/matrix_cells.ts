import { assertEquals } from "@std/assert";
import { eventually } from "./client.ts";
import { setFees } from "./matrix_lanes.ts";
import { PAYOUT_STEPS } from "./matrix_payouts.ts";
import { NODE_MS } from "./patience.ts";
import { faultsOn, holdSolid, reorganise, untilRead } from "./matrix_moments.ts";
import type { Rig } from "./matrix_rig.ts";
import { newDeposit, pay, type Subject, until } from "./matrix_subject.ts";
import { assertEnd } from "./matrix_ends.ts";
import { SWEEP_STEPS } from "./matrix_sweeps.ts";
import type { Does, LiveCell, Step } from "./matrix_table.ts";

/** Carries one cell out: the fault at its step, its visibility, peace, and the end. */
export async function tryCell(rig: Rig, { step, does, end }: LiveCell): Promise<void> {
  try {
    const subject = await CARRIED_OUT[step](rig, does);
    await rig.setFaults([]);
    await assertEnd(rig, subject, end);
  } finally {
    // the next cell begins in peace, whatever became of this one
    await rig.setFaults([]);
    await setFees(rig, null);
  }
}

const CARRIED_OUT: Readonly<Record<Step, (rig: Rig, does: Does) => Promise<Subject>>> = {
  "deposit seen": async (rig, does) => {
    const { family } = rig;
    const subject = await newDeposit(rig);
    if ("reorganise" in does) {
      // less than the time that is let pass until it has expired; one that comes back has the usual lifetime, or
      // a slow machine would see it expire
      const vanishing = family.vanishesMs - 10_000;
      await pay(rig, subject, does.reorganise === "drop" ? vanishing : undefined);
      await rig.mine(1);
      await until(rig, subject, "PENDING", "waiting");
      await reorganise(rig, does.reorganise);
      return subject;
    }
    if ("kind" in does && does.kind === "revert") {
      await rig.control("/dev/emit", {
        steps: [{ do: "transfer", to: subject.address, amount: "100000000" }, { do: "revert" }],
      });
      await rig.mine(5);
      await untilRead(rig);
      return subject;
    }
    if ("kind" in does && does.kind.startsWith("finality-")) {
      await pay(rig, subject);
      await rig.setFaults(faultsOn([family.paths.finality], does));
      await rig.mine(6);
      if (does.kind === "finality-back") await rig.untilHit();
      await until(rig, subject, "PENDING", "waiting");
      return subject;
    }
    await rig.setFaults(faultsOn(family.paths.head, does));
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
    if (rig.family.keepsHead || !rig.family.seesHead) {
      // what the head view has read is not read again: its block is kept from both
      await holdSolid(rig, does, 5);
      return subject;
    }
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
  ...PAYOUT_STEPS,
  ...SWEEP_STEPS,
};
