import { z } from "zod";
import { getAddress } from "viem/utils";
import { delay } from "../../../ledger/database/delay.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { ask, eventually, expectBody } from "../../faults/support/client.ts";
import type { Payer } from "../../faults/support/crowd.ts";
import type { Service } from "../../support/service.ts";
import type { LifeReceiver } from "../life/receiver.ts";

const CLIENTS = 4;
/** So many times what a lane holds is under way at the same time, so that it is full. */
const LANES_FULL = 5;
const WARM_UP_S = 8;
const SETTLE_MS = 300_000;

/** Payouts whose callback was acknowledged in a second, while more wait than the lane holds. @param depth of the lane */
export async function payMany(
  service: Service,
  network: Network,
  payers: readonly Payer[],
  { confirmed }: LifeReceiver,
  { depth, seconds }: { readonly depth: number; readonly seconds: number },
): Promise<number> {
  const asked = new Set<string>();
  let ended = 0;
  const underWay = () => {
    ended = 0;
    for (const id of asked) if (confirmed.has(id)) ended++;
    return asked.size - ended;
  };
  let stopping = false;
  let next = 0;
  const client = async () => {
    while (!stopping) {
      if (underWay() >= LANES_FULL * depth) {
        await delay(20);
        continue;
      }
      const number = next++;
      const payer = payers[number % payers.length] as Payer;
      const body = {
        amount: "1",
        currency: "USDT",
        network,
        destination: getAddress(`0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`),
        referenceId: `${network}-${number}`,
      };
      const answer = await ask(service, "POST", "/api/withdrawals", body, payer.apiKey);
      asked.add(expectBody(z.object({ withdrawalId: z.string() }), answer, 201).withdrawalId);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await delay(WARM_UP_S * 1_000);
  const [began, before] = [performance.now(), confirmed.size];
  await delay(seconds * 1_000);
  const perSecond = (confirmed.size - before) / (performance.now() - began) * 1_000;
  stopping = true;
  await Promise.all(clients);
  await eventually("every payout settled", () => Promise.resolve(underWay() === 0), SETTLE_MS);
  return perSecond;
}
