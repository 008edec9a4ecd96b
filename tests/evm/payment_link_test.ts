import { assertEquals, assertThrows } from "@std/assert";
import { paymentLink } from "../../chains/evm/payment_link.ts";
import { amountOf } from "../../ledger/money/amount.ts";

const USDT = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const TO = "0x52908400098527886E0F7030069857D2E4169EE7";

Deno.test("a payment link names contract, chain, receiver and smallest units, as EIP-681 has them", () => {
  const six = { contract: USDT, decimals: 6 };
  assertEquals(
    paymentLink(1, six, TO, amountOf("12.5")),
    `ethereum:${USDT}@1/transfer?address=${TO}&uint256=12500000`,
  );
  assertEquals(
    paymentLink(56, { contract: USDT, decimals: 18 }, TO, amountOf("0.000000000000000001")),
    `ethereum:${USDT}@56/transfer?address=${TO}&uint256=1`,
  );
  assertEquals(paymentLink(1, six, TO, null), `ethereum:${USDT}@1/transfer?address=${TO}`);
  assertThrows(() => paymentLink(1, six, TO, amountOf("0.0000001")), RangeError);
});
