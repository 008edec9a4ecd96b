import { assertEquals } from "@std/assert";
import { pricesAgain } from "../../actors/treasury/lane_requests.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperGas } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a promised sweep is signed only once its address has the coin that it costs by now", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_platform', 'sweep', 'ETH', 'USDT', 5, '7', 'wallet', 'hot-wallet', 'queued', now(), now())`;
  const nonce: PromisedNonce = {
    payer: "7",
    nonce: 0,
    ageMs: 1_000,
    isCancelAsked: false,
    intents: [{
      outgoingId: "out_1",
      merchantId: "mer_platform",
      status: "queued",
      isActive: true,
    }],
    attempts: [],
  };
  const steps = [{
    payer: "7",
    step: { do: "sign" as const, nonce: { ...nonce, isRefused: false } },
  }];
  const signed = async (coin: string) => {
    const costs = await paperGas().sweepCosts({
      from: "",
      to: "",
      currency: "USDT",
      amount: amount("5"),
    });
    const sweepCosts = () => Promise.resolve({ ...costs, coin: amount(coin), cost: amount("1.5") });
    const chain = paperChain("ETH", { gas: paperGas({ sweepCosts }) });
    const { requests, refused } = await pricesAgain(sql, chain, steps, AbortSignal.timeout(5_000));
    return [requests.length, refused.length];
  };
  assertEquals(await signed("1.5"), [1, 0]);
  // above its coin it would be stuck when fees fall: no node takes it, and what replaces it costs more
  assertEquals(await signed("1.499999"), [0, 0]);
});
