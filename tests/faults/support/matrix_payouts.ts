import {
  evictNewest,
  happen,
  queueUntilPayable,
  raiseFees,
  setFees,
  untilReplaced,
} from "./matrix_lanes.ts";
import {
  faultsOn,
  holdSolid,
  instead,
  reorganise,
  untilInFlight,
  untilQueued,
  untilSent,
} from "./matrix_moments.ts";
import type { Rig } from "./matrix_rig.ts";
import { newPayout, type Subject, withdraw } from "./matrix_subject.ts";
import type { Does, Step } from "./matrix_table.ts";

/** The steps of a payout, each up to the moment at which the node is at peace again. */
export const PAYOUT_STEPS = {
  "payout estimate": (rig, does) => queuedWhile(rig, does, rig.family.paths.estimate),
  "payout sign": (rig, does) => {
    const { funds, finality } = rig.family.paths;
    return queuedWhile(rig, does, isFinality(does) ? [finality] : funds);
  },
  "payout broadcast": async (rig, does) => {
    const subject = await newPayout(rig);
    await rig.setFaults(faultsOn([rig.family.paths.broadcast], sentAs(does)));
    await withdraw(rig, subject);
    if ("reorganise" in does) {
      await untilSent(rig);
      await reorganise(rig, does.reorganise);
    } else if ("happens" in does) await happen(rig, subject, does.happens);
    else await rig.untilHit();
    await untilShown(rig, subject);
    return subject;
  },
  "payout replaced": async (rig, does) => {
    const subject = await newPayout(rig);
    await withdraw(rig, subject);
    await untilSent(rig);
    await raiseFees(rig);
    await rig.setFaults(faultsOn([rig.family.paths.broadcast], sentAs(does)));
    const isKept = "reorganise" in does;
    await untilReplaced(rig, subject, isKept);
    if (isKept) {
      await rig.mine(1);
      await reorganise(rig, does.reorganise);
    } else if ("kind" in does) await rig.untilHit();
    else if (does.happens === "evicted") await evictNewest(rig, subject);
    else {
      await rig.untilHit();
      await setFees(rig, null);
      await rig.mine(1);
    }
    await untilShown(rig, subject);
    return subject;
  },
  "payout seen": async (rig, does) => {
    const { head, finality } = rig.family.paths;
    const subject = await newPayout(rig);
    await withdraw(rig, subject);
    await untilSent(rig);
    if ("reorganise" in does) {
      await rig.mine(1);
      await reorganise(rig, does.reorganise);
    } else if (isFinality(does)) {
      await rig.setFaults(faultsOn([finality], does));
      await rig.mine(6);
    } else {
      await rig.setFaults(faultsOn(head, does));
      await rig.mine(1);
      await rig.untilHit();
    }
    await untilShown(rig, subject);
    return subject;
  },
  "payout solid": async (rig, does) => {
    const subject = await newPayout(rig);
    await withdraw(rig, subject);
    await untilSent(rig);
    if (rig.family.keepsHead) await holdSolid(rig, does, 5);
    else {
      await rig.mine(1);
      await holdSolid(rig, does);
    }
    await untilShown(rig, subject);
    return subject;
  },
} as const satisfies Readonly<
  Partial<Record<Step, (rig: Rig, does: Does) => Promise<Subject>>>
>;

/** The fault that a transaction is sent into. */
function sentAs(does: Does): Does {
  const isLost = "happens" in does &&
    (does.happens === "original lands" || does.happens === "foreign hand");
  return isLost ? { kind: "lost-broadcast" } : does;
}

function isFinality(does: Does): boolean {
  return "kind" in does && does.kind.startsWith("finality-");
}

/** Waits until the treasury shows the payout in flight. */
async function untilShown(rig: Rig, subject: Subject): Promise<void> {
  await untilInFlight(rig, ({ paymentId }) => paymentId === subject.paymentId);
}

/** The queue holds a payout for as long as the node fails, and says why. */
async function queuedWhile(rig: Rig, does: Does, paths: readonly string[]): Promise<Subject> {
  const subject = await newPayout(rig);
  if ("happens" in does) {
    await queueUntilPayable(rig, subject, does.happens);
    return subject;
  }
  // a reorganisation needs a moment at which the step is under way
  await rig.setFaults(faultsOn(paths, instead(does)));
  await withdraw(rig, subject);
  await rig.untilHit();
  await untilQueued(rig, subject);
  if ("reorganise" in does) await reorganise(rig, does.reorganise);
  return subject;
}
