import { addMerchant } from "../../support/books.ts";
import { openRig, type RigOptions } from "./matrix_rig.ts";
import type { Mortal } from "./mortal.ts";
import { withPatienceOfANode } from "./patience.ts";

/** As `addMerchant` of the books sets it. */
const WEBHOOK_SECRET = "whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=";

/**
 * Runs a function with a node in this process, started: the real actors, deliveries and interface on a
 * real database and a development chain, at a fast pace. A death takes what the process keeps; the
 * chain and the interface outlive it, and the interface answers 500 meanwhile.
 */
export async function withNode<T>(
  body: (service: Mortal) => Promise<T>,
  options: Partial<RigOptions> = {},
): Promise<T> {
  await using rig = await openRig({ sweeps: false, pollWebhooksMs: 100, ...options });
  const id = await addMerchant(rig.sql, { rate: "0.01" });
  const merchant = { id, apiKey: await rig.api.addKey(id), webhookSecret: WEBHOOK_SECRET };
  return await withPatienceOfANode(() =>
    body({
      credentials: {
        baseUrl: rig.api.url,
        merchant,
        chains: { TRX: { url: rig.chainUrl, usdt: rig.usdt } },
      },
      sql: rig.sql,
      start: async ({ crashAt } = {}) => {
        const began = performance.now();
        await rig.start(crashAt);
        return Math.round(performance.now() - began);
      },
      arm: (crashAt) => Promise.resolve(rig.arm(crashAt)),
      kill9: rig.kill9,
      get ended() {
        return rig.ended;
      },
    })
  );
}
