import { assertEquals } from "@std/assert";
import { chooseLanguage, LANGUAGES } from "../../api/hosted_page/language.ts";
import { pageState, progressOf, redirectOf } from "../../api/hosted_page/page_view.ts";
import { usualTime } from "../../api/hosted_page/usual_time.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { type Amount, amountOf, formatAmount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { DepositRow } from "../../ledger/payment_rows.ts";
import type { SessionPayment } from "../../ledger/sessions.ts";

const NOW = 1_000_000;

function paymentOf(
  status: DepositRow["status"],
  credited: string,
  pending: string,
): SessionPayment {
  const deposit: Pick<DepositRow, "status"> = { status };
  return {
    // the states go by the status and the sums alone
    deposit: deposit as SessionPayment["deposit"],
    credited: amountOf(credited),
    pending: amountOf(pending),
  };
}

/** A price for which no rate was at hand. */
const UNPRICED = "no rate";

/** The state of a page with a quote, without a rate for one, or for any amount. */
function stateOf(quote: string | null, payment: SessionPayment | null, isOver = false): string {
  const session = {
    amount: quote === null || quote === UNPRICED ? null : amountOf(quote),
    requestedAmount: quote === null ? null : amountOf("100.5"),
    currency: "USDT",
    network: "TRX",
    expiresAt: isOver ? NOW : NOW + 1,
  } as const;
  const state = pageState(session, payment, progressOf(session, payment), NOW);
  const late = state.kind === "received" && state.late ? " late" : "";
  const over = state.kind === "completed" && state.over > 0n ? ` +${formatAmount(state.over)}` : "";
  return `${state.kind}${late}${over}`;
}

Deno.test("hosted page: what the customer is told, by quote, sums and time", () => {
  const nothing = null;
  const rows: readonly (readonly [string | null, SessionPayment | null, string, string])[] = [
    // quote, what came, while the page's time lasts, afterwards
    [null, nothing, "waiting", "expired"],
    [null, paymentOf("PENDING", "0", "5"), "received", "received late"],
    [null, paymentOf("CONFIRMED", "5", "0"), "completed", "completed"],
    [null, paymentOf("FAILED", "0", "0"), "failed", "failed"],
    [UNPRICED, nothing, "waiting", "expired"],
    [UNPRICED, paymentOf("PENDING", "0", "5"), "received", "received late"],
    [UNPRICED, paymentOf("CONFIRMED", "5", "0"), "unchecked", "unchecked"],
    [UNPRICED, paymentOf("CONFIRMED", "5", "4"), "received", "received late"],
    [UNPRICED, paymentOf("FAILED", "0", "0"), "failed", "failed"],
    // another token than the one that was named was credited
    [UNPRICED, paymentOf("CONFIRMED", "0", "0"), "unchecked", "unchecked"],
    ["10", nothing, "waiting", "expired"],
    ["10", paymentOf("PENDING", "0", "9.999999"), "partial", "short"],
    ["10", paymentOf("CONFIRMED", "4", "5"), "partial", "short"],
    ["10", paymentOf("CONFIRMED", "4", "6"), "received", "received late"],
    ["10", paymentOf("PENDING", "0", "12"), "received", "received late"],
    ["10", paymentOf("CONFIRMED", "10", "0"), "completed", "completed"],
    ["10", paymentOf("CONFIRMED", "10", "1"), "completed", "completed"],
    ["10", paymentOf("CONFIRMED", "10.5", "0"), "completed +0.5", "completed +0.5"],
    ["10", paymentOf("FAILED", "0", "0"), "failed", "failed"],
    ["10", paymentOf("CANCELLED", "0", "0"), "failed", "failed"],
    // another token than the one asked for was credited
    ["10", paymentOf("CONFIRMED", "0", "0"), "partial", "short"],
  ];
  for (const [quote, payment, during, after] of rows) {
    assertEquals([stateOf(quote, payment), stateOf(quote, payment, true)], [during, after]);
  }
});

Deno.test("hosted page: what is asked for is the quote rounded up to what the token carries", () => {
  const askedOf = (amount: string, network: Network) => {
    const session = {
      amount: amountOf(amount),
      requestedAmount: null,
      currency: "USDT",
      network,
    } as const;
    const { asked, missing } = progressOf(session, null);
    assertEquals(missing, asked);
    return formatAmount(asked as Amount);
  };
  assertEquals(askedOf("14.05594406", "TRX"), "14.055945");
  assertEquals(askedOf("14.00000001", "TRX"), "14.000001");
  assertEquals(askedOf("14", "TRX"), "14");
  assertEquals(askedOf("14.05594406", "BNB"), "14.05594406");
});

Deno.test("hosted page: what is missing can be sent, however fine a deposit by hand is", () => {
  const missingOf = (seen: string, network: Network) => {
    const session = {
      amount: amountOf("14"),
      requestedAmount: null,
      currency: "USDT",
      network,
    } as const;
    const { missing } = progressOf(session, paymentOf("PENDING", "0", seen));
    return formatAmount(missing as Amount);
  };
  assertEquals(missingOf("10.0000001", "TRX"), "4");
  assertEquals(missingOf("9.9999999", "TRX"), "4.000001");
  assertEquals(missingOf("13.9999999", "TRX"), "0.000001");
  assertEquals(missingOf("14.0000001", "TRX"), "0");
  assertEquals(missingOf("9.9999999", "BNB"), "4.0000001");
});

Deno.test("hosted page: only an end leads back to the merchant, and too little only on request", () => {
  const merchant = { successUrl: "https://s.example/", failureUrl: "https://f.example/" };
  const none = { successUrl: null, failureUrl: null };
  const over = amountOf("0");
  const leads = (state: Parameters<typeof redirectOf>[0]) => {
    assertEquals(redirectOf(state, none), null);
    const redirect = redirectOf(state, merchant);
    return redirect === null ? null : [redirect.url, redirect.afterS !== null];
  };
  assertEquals(leads({ kind: "waiting" }), null);
  assertEquals(leads({ kind: "partial" }), null);
  assertEquals(leads({ kind: "received", late: true }), null);
  assertEquals(leads({ kind: "unchecked" }), null);
  assertEquals(leads({ kind: "completed", over }), ["https://s.example/", true]);
  assertEquals(leads({ kind: "failed" }), ["https://f.example/", true]);
  assertEquals(leads({ kind: "expired" }), ["https://f.example/", true]);
  assertEquals(leads({ kind: "short" }), ["https://f.example/", false]);
});

Deno.test("hosted page: a preference that cannot be read is no preference", () => {
  for (const header of [null, "", ",,", "ar;q=2", "ar;q=-1", "ar;q=x", ";q=1", "*;q=0.5"]) {
    assertEquals(chooseLanguage(null, header), "en", `${header}`);
  }
  assertEquals(chooseLanguage(null, "es;q=0.5, ar;q=0.5"), "es");
  assertEquals(chooseLanguage("zh", "ar"), "zh");
});

Deno.test("hosted page: a payment that is on its way is told its own network's usual time", () => {
  const told = (network: Network) =>
    LANGUAGES.en.received("5", usualTime(PROFILES[network].pace.finalityMs)).detail
      .replace(/^.*this takes /, "");
  assertEquals(told("TRX"), "a minute or two.");
  assertEquals(told("ETH"), "about 15 minutes.");
  assertEquals(told("BNB"), "a few seconds.");
  assertEquals(told("SOL"), "a few seconds.");
  for (const texts of Object.values(LANGUAGES)) {
    const times = (["seconds", "minutes", "quarter"] as const).map((usual) =>
      texts.received("5", usual).detail
    );
    assertEquals(new Set(times).size, 3, texts.name);
  }
});
