import { z } from "zod";
import { getAddress } from "viem/utils";
import { ask, eventually, expectBody, send } from "../../faults/support/client.ts";
import { openPayers } from "../../faults/support/crowd.ts";
import type { Service } from "../../support/service.ts";
import type { EvmMeasurement } from "./evm_report.ts";

/** Fees that are far above what a payout offered a moment before, gwei. */
const DEAR_GWEI = "60";
/** On a development chain what is in none of four blocks is replaced. */
const BUMP_BLOCKS = 4;
const SLACK_BLOCKS = 2;

/** Time from the signature of a payout whose fee blocks pass over to that of the one that replaces it. */
export async function timeStuckPayout(service: Service, blockMs: number): Promise<EvmMeasurement> {
  const { sql, credentials } = service;
  const chain = credentials.chains["ETH"];
  const [payer] = await openPayers(service, 1, "1000", "ETH");
  if (chain === undefined || payer === undefined) throw new Error("Cannot measure without a chain");
  const control = (command: string, body: unknown) =>
    send(`${chain.url}/dev/${command}`, "POST", body);
  // no block comes between the signature and the jump of fees
  await control("config", { blockMs: 0 });
  const body = {
    amount: "1",
    currency: "USDT",
    network: "ETH",
    destination: getAddress(`0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`),
    referenceId: "stuck",
  };
  const answer = await ask(service, "POST", "/api/withdrawals", body, payer.apiKey);
  const { withdrawalId } = expectBody(z.object({ withdrawalId: z.string() }), answer, 201);
  const attempts = async () =>
    await sql<{ at: Date }[]>`
      SELECT a.created_at AS at FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
      WHERE o.payment_id = ${withdrawalId} ORDER BY a.number`;
  await eventually("its signature", async () => (await attempts()).length > 0);
  await control("basefee", { gwei: DEAR_GWEI });
  await control("config", { blockMs });
  const [first, second] = await eventually("its replacement", async () => {
    const found = await attempts();
    return found.length > 1 ? found : null;
  });
  if (first === undefined || second === undefined) throw new Error("Cannot tell the times");
  await eventually("its end", async () => {
    const rows = await sql`
      SELECT FROM book.withdrawal WHERE id = ${withdrawalId} AND status = 'CONFIRMED'`;
    return rows.length > 0;
  });
  return {
    name: "payout that fees left behind replaced after, s",
    value: (second.at.getTime() - first.at.getTime()) / 1_000,
    asked: { most: (BUMP_BLOCKS + SLACK_BLOCKS) * blockMs / 1_000 },
  };
}
