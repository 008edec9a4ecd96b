import { z } from "zod";
import type { Shown } from "./chain_audit.ts";
import type { SoakWorld } from "./chain_world.ts";
import { TOKEN, unitsOf } from "./units.ts";

const DOLLAR = TOKEN;
const Payload = z.object({
  depositId: z.string().optional(),
  withdrawalId: z.string().optional(),
  transactionId: z.string().optional(),
});

/**
 * Every end of a payment was told, under one id, and nothing else was: one event of its own, and one
 * of its statement line each.
 */
export function auditEvents({ receiver }: SoakWorld, shown: readonly Shown[]) {
  const faults = [...receiver.faults];
  const told = new Map<string, number>();
  let lines = 0;
  for (const { type, body } of receiver.told.values()) {
    const { depositId, withdrawalId, transactionId } = Payload.parse(JSON.parse(body));
    const id = depositId ?? withdrawalId;
    if (id !== undefined) told.set(`${type} ${id}`, (told.get(`${type} ${id}`) ?? 0) + 1);
    else if (transactionId !== undefined) lines++;
    else faults.push(`an event of no payment was told: ${type}`);
  }
  const expected = new Set<string>();
  for (const { deposits, withdrawals } of shown) {
    for (const { id, status, amount } of deposits) {
      if (unitsOf(amount) < DOLLAR) continue;
      expected.add(`deposit.${status.toLowerCase()} ${id}`);
    }
    for (const { id, status } of withdrawals) {
      expected.add(`withdrawal.${status.toLowerCase()} ${id}`);
    }
  }
  for (const event of expected) if (!told.has(event)) faults.push(`nobody was told: ${event}`);
  let returned = 0;
  for (const [event, times] of told) {
    if (times > 1) faults.push(`${times} events of one end: ${event}`);
    if (expected.has(event)) continue;
    // a deposit that was given up and then found in a solid block after all
    const [, id] = event.split(" ");
    if (event.startsWith("deposit.failed ") && expected.has(`deposit.confirmed ${id}`)) returned++;
    else faults.push(`told without reason: ${event}`);
  }
  if (lines !== told.size) {
    faults.push(`${lines} events of statement lines instead of ${told.size}`);
  }
  return {
    faults,
    figures: {
      "events told": receiver.told.size,
      "deliveries": receiver.deliveries,
      "deposits that came back": returned,
    },
  };
}
