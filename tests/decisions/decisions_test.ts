import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MerchantMessage } from "../../actors/merchant/decision.ts";
import { REFUSAL_CODES } from "../../actors/merchant/refusal.ts";
import { DEPOSITS, TOP_UPS } from "./deposits.ts";
import { MANUAL_DEPOSITS } from "./manual_deposits.ts";
import { ADDRESSES, PROFILES, SHARES } from "./merchants.ts";
import { BOOKED_AGAIN, OPERATORS_WORD, PAYOUT_ENDS } from "./payout_ends.ts";
import { SETTLEMENT_ADDRESSES, SETTLEMENTS } from "./settlements.ts";
import { outcomeOf, type Spec } from "./support/statement.ts";
import { WITHDRAWALS } from "./withdrawals.ts";

const TABLES: Readonly<Record<string, readonly Spec[]>> = {
  "a deposit": DEPOSITS,
  "a top-up": TOP_UPS,
  "a deposit by hand": MANUAL_DEPOSITS,
  "a withdrawal": WITHDRAWALS,
  "a payout": PAYOUT_ENDS,
  "a payout, by an operator's word": OPERATORS_WORD,
  "a payout, booked after a failover": BOOKED_AGAIN,
  "a settlement": SETTLEMENTS,
  "an address for settlements": SETTLEMENT_ADDRESSES,
  "a deposit address": ADDRESSES,
  "a profile": PROFILES,
  "a margin": SHARES,
};

for (const [subject, specs] of Object.entries(TABLES)) {
  describe(subject, () => {
    for (const spec of specs) {
      it(spec.it, () => assertEquals(outcomeOf(spec), [spec.then].flat()));
    }
  });
}

/** Every message of a merchant; the compiler completes the list. */
const VERBS = {
  "reserve": true,
  "book-payout": true,
  "approve-withdrawal": true,
  "decline-withdrawal": true,
  "create-settlement": true,
  "approve-settlement": true,
  "decline-settlement": true,
  "add-settlement-address": true,
  "remove-settlement-address": true,
  "activate-settlement-address": true,
  "create-deposit": true,
  "decide-deposit": true,
  "ingest-withdrawal": true,
  "settle-withdrawal": true,
  "issue-address": true,
  "update-profile": true,
  "transfer": true,
  "vanished": true,
  "outcome": true,
  "swept": true,
  "submitted": true,
  "margin": true,
} satisfies Record<MerchantMessage["type"], true>;

Deno.test("the tables have an effect of every message and a row for every refusal", () => {
  const rows = Object.values(TABLES).flat();
  const effects = new Set(
    rows.filter(({ then }) => typeof then !== "string" && then.length > 1)
      .map(({ when }) => when.type),
  );
  assertEquals(Object.keys(VERBS).filter((type) => !effects.has(type as never)), []);
  const refusals = new Set(
    rows.map(({ then }) => /^refused (\w+)/.exec(String(then))?.[1]),
  );
  assertEquals(REFUSAL_CODES.filter((code) => !refusals.has(code)), []);
});

Deno.test("what a table says twice of one message is said once", () => {
  for (const [subject, specs] of Object.entries(TABLES)) {
    const names = specs.map((spec) => spec.it);
    assertEquals(names.filter((name, at) => names.indexOf(name) < at), [], subject);
  }
});
