import { assertEquals } from "@std/assert";
import { z } from "zod";
import { armCrashPoint, type CrashPointName } from "../../../actors/runtime/crash_point.ts";
import { assertEnd } from "./matrix_ends.ts";
import { raiseFees, setFees, untilReplaced } from "./matrix_lanes.ts";
import { faultsOn, untilSent } from "./matrix_moments.ts";
import type { Rig } from "./matrix_rig.ts";
import { newPayout, type Subject, withdraw } from "./matrix_subject.ts";
import { bounded } from "./patience.ts";
import type { PrivateCluster } from "../../support/private_cluster.ts";

/**
 * Parts of an installation that die: the service, the signer whose answer is lost, the development chain's node, the
 * database's server.
 */
export const DYING = ["the service", "the signer", "the node", "PostgreSQL"] as const;

/** The server that a rig's database is on. */
export type Server = Pick<PrivateCluster, "kill9" | "restart">;

/** A point of a lane's turn, with what brings a payout there, and its end. */
export interface LaneDeath {
  readonly point: CrashPointName;
  readonly when: "sent" | "replaced" | "cancelled";
}

/** Every point of a lane's turn. */
export const DEATHS: readonly LaneDeath[] = [
  { point: "treasury.after-promise", when: "sent" },
  { point: "treasury.after-sign", when: "sent" },
  { point: "treasury.after-commit", when: "sent" },
  { point: "treasury.after-broadcast", when: "sent" },
  { point: "treasury.after-replacement-sign", when: "replaced" },
  { point: "treasury.after-cancel-commit", when: "cancelled" },
];

const AnvilFile = z.object({ pid: z.number() });

/** Brings a payout to a point, has something die there, and compares its end. */
export async function survive(
  rig: Rig,
  server: Server,
  who: (typeof DYING)[number],
  { point, when }: LaneDeath,
): Promise<void> {
  const subject = await newPayout(rig);
  if (when === "sent") {
    // who asks for it must not be cut off by the death
    await rig.setFaults(faultsOn(rig.family.paths.estimate, { kind: "error-500" }));
    await withdraw(rig, subject);
    await dieAt(rig, server, who, point, () => rig.setFaults([]));
  } else {
    await withdraw(rig, subject);
    await untilSent(rig);
    await dieAt(
      rig,
      server,
      who,
      point,
      () => when === "replaced" ? raiseFees(rig) : cancel(rig, subject),
    );
  }
  if (when === "cancelled") {
    await untilReplaced(rig, subject, true);
    await assertEnd(rig, subject, "refunded, cancelled");
  } else await assertEnd(rig, subject, "paid once");
  await setFees(rig, null);
}

/** Something dies at a point that is passed by what is done. */
async function dieAt(
  rig: Rig,
  server: Server,
  who: (typeof DYING)[number],
  point: CrashPointName,
  act: () => Promise<void>,
): Promise<void> {
  if (who === "the service") {
    rig.arm(point);
    const { ended } = rig;
    await act();
    await bounded(`the death at ${point}`, ended);
    return await rig.start();
  }
  const passed = Promise.withResolvers<void>();
  armCrashPoint(point, () => {
    if (who === "PostgreSQL") {
      // the signal is sent before this returns
      passed.resolve(server.kill9().then(() => server.restart()));
      return;
    }
    if (who === "the node") Deno.kill(anvilOf(rig), "SIGKILL");
    else rig.life.signer.die();
    passed.resolve();
  });
  await act();
  await bounded(`the death at ${point}`, passed.promise);
}

/** The process that carries transactions out for the development chain. */
function anvilOf({ dataDir, family: { network } }: Rig): number {
  const file = `${dataDir}/dev-chain-${network}/anvil.port`;
  return AnvilFile.parse(JSON.parse(Deno.readTextFileSync(file))).pid;
}

/** An administrator takes a payout's nonce out of use. */
async function cancel(rig: Rig, { paymentId }: Subject): Promise<void> {
  const key = await rig.api.addKey(null, { permissions: ["admin:treasury"] });
  const { status, body } = await rig.api.call("POST", "/api/admin/treasury/cancel", {
    key,
    body: { id: paymentId, reason: "tried" },
  });
  assertEquals(status, 200, JSON.stringify(body));
}
