import { logEvent } from "../../log/log_event.ts";
import { isTracing, traceSpan } from "../../log/traces.ts";
import type { Chain } from "../../chains/chain.ts";
import type { InFlight } from "../../ledger/treasury/in_flight.ts";
import { crashPoint } from "../runtime/crash_point.ts";

/** Broadcasts under way at once. */
const BROADCASTS = 8;

/**
 * Sends signed transactions: the same bytes, any number of times. One that cannot be sent is sent
 * again later, the others go on.
 *
 * @param boundMs after this long none is begun: nodes that do not answer must not hold a turn up for
 *   each of thousands
 * @param onSend called with each transaction's id before it is sent
 * @returns whether each of them was begun
 */
export async function broadcastAll(
  chain: Pick<Chain, "network" | "broadcast">,
  transactions: readonly InFlight[],
  boundMs: number,
  onSend: (txid: string) => void,
): Promise<boolean> {
  const due = [...transactions];
  const end = performance.now() + boundMs;
  const send = async () => {
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      if (performance.now() > end) {
        due.unshift(next);
        return;
      }
      onSend(next.txid);
      await broadcastOne(chain, next);
      crashPoint("treasury.after-broadcast");
    }
  };
  await Promise.all(Array.from({ length: BROADCASTS }, send));
  return due.length === 0;
}

/** No answer proves death: only the solid scan decides, so all of them are just logged. */
async function broadcastOne(
  chain: Pick<Chain, "network" | "broadcast">,
  { txid, bytes, expiresAt, outgoingId, paymentId }: InFlight,
): Promise<void> {
  const { network } = chain;
  const from = Date.now();
  let category = "not_sent";
  try {
    const outcome = await chain.broadcast({ txid, bytes, expiresAt });
    category = outcome.category;
    const words = "message" in outcome ? outcome.message ?? "" : "";
    const event = outcome.category === "rejected"
      ? "transfer.refused"
      : outcome.category === "unclear" && words !== ""
      ? "transfer.broadcast_unclear"
      : "transfer.broadcast";
    const code = "code" in outcome ? outcome.code : "";
    logEvent(event, { network, txid, category, code, words });
  } catch (error) {
    logEvent("transfer.not_broadcast", { network, txid, error });
  }
  if (!isTracing()) return;
  const attributes = { transfer: outgoingId, payment: paymentId, network, txid, outcome: category };
  traceSpan("transfer.broadcast", { of: paymentId ?? outgoingId, from, attributes });
}
