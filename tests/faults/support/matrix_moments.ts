import { eventually } from "./client.ts";
import { NODE_MS } from "./patience.ts";
import type { Rig } from "./matrix_rig.ts";
import type { Does } from "./matrix_table.ts";
import type { RigFault } from "./rig_node.ts";

/**
 * Solid blocks wait while they cannot be read, and the metrics say so.
 *
 * @param untilSolid blocks after which what is looked at is solid
 */
export async function holdSolid(rig: Rig, does: Does, untilSolid = 4): Promise<void> {
  if ("reorganise" in does) throw new Error("Cannot take solid blocks back");
  await rig.setFaults(faultsOn(rig.family.paths.solid, does));
  await rig.mine(untilSolid);
  await rig.untilHit();
  await eventually("the lag in the metrics", async () => {
    const lag = await rig.metric("engine_chain_lag_blocks");
    return lag !== null && lag > 0;
  }, NODE_MS);
}

export async function untilSent(rig: Rig): Promise<void> {
  await eventually(
    "a transaction in the pool",
    async () => (await rig.info()).pending > 0,
    NODE_MS,
  );
}

/** Waits until the treasury shows a transfer in flight, with its transaction and, where it has one, its expiry. */
export async function untilInFlight(
  rig: Rig,
  isMeant: (transfer: Waiting) => boolean,
): Promise<void> {
  await eventually("the transfer in flight", async () => {
    const { inFlight } = await treasuryOf(rig);
    return inFlight.some((row) =>
      isMeant(row) && row.txid !== null && (row.expiresAt !== null) === rig.family.expires
    );
  }, NODE_MS);
}

/** A transfer as the treasury shows it. */
export interface Waiting {
  readonly kind: string;
  readonly destination: string;
  readonly paymentId: string | null;
  readonly reason: string | null;
  readonly txid: string | null;
  readonly expiresAt: string | null;
}

/** Waits until the treasury shows the payout in its queue, with a reason. */
export async function untilQueued(
  rig: Rig,
  subject: { readonly paymentId: string | null },
): Promise<void> {
  await eventually("the payout queued, with a reason", async () => {
    const { queued } = await treasuryOf(rig);
    return queued.some(({ paymentId, reason }) =>
      paymentId === subject.paymentId && reason !== null
    );
  }, NODE_MS);
}

const admins = new WeakMap<Rig, Promise<string>>();

/** The network as `GET /api/admin/treasury` shows it. */
export async function treasuryOf(
  rig: Rig,
): Promise<{
  readonly queued: readonly Waiting[];
  readonly inFlight: readonly Waiting[];
  readonly sweeps: {
    readonly addresses: readonly { readonly address: string; readonly reason: string }[];
  };
}> {
  const key = admins.get(rig) ?? rig.api.addKey(null, { permissions: ["admin:read"] });
  admins.set(rig, key);
  const { body } = await rig.api.call("GET", "/api/admin/treasury", { key: await key });
  return body.networks[0];
}

export async function untilRead(rig: Rig): Promise<void> {
  const { solid } = await rig.info();
  await eventually(`solid block ${solid} read`, async () => {
    const [cursor] = await rig.sql<{ height: string }[]>`
      SELECT height FROM hub.cursor WHERE network = ${rig.family.network} AND view = 'solid'`;
    return Number(cursor?.height ?? 0) >= solid;
  }, NODE_MS);
}

export async function reorganise(rig: Rig, how: "return" | "drop"): Promise<void> {
  await rig.control("/dev/reorg", { depth: 1, drop: how === "drop" });
}

export function faultsOn(paths: readonly string[], does: Does): readonly RigFault[] {
  return "kind" in does ? paths.map((path) => ({ path, ...does })) : [];
}

/** The fault during which something else is to happen: that needs a moment at which the step is under way. */
export function instead(does: Does): Does {
  return "kind" in does ? does : { kind: "error-500" };
}
