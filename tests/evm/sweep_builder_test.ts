import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Envelope } from "../../chains/chain.ts";
import { envelopeTerms } from "../../chains/evm/pay/envelope.ts";
import { creationData, delegateOf, DEPLOYER } from "../../chains/evm/pay/sweep_delegate.ts";
import { createEvmTransferBuilder } from "../../chains/evm/pay/transfer_builder.ts";
import type { SweepBy } from "../../chains/profiles.ts";
import type { Intent } from "../../chains/signer.ts";
import { amountOf, ZERO } from "../../ledger/money/amount.ts";
import { openDesk } from "../signer/support/desk.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ env: true });
const RECEIVER = "0x52908400098527886E0F7030069857D2E4169EE7";

function builderOf(sweepBy?: SweepBy) {
  return createEvmTransferBuilder({
    network: "ETH",
    chainId: 1,
    contracts: { USDT: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
    feeCap: amountOf("1"),
    sweepBy,
  });
}

function intentOf(over: Partial<Intent>): Intent {
  return {
    ...openDesk().intent,
    outgoingId: "out_1",
    network: "ETH",
    destination: RECEIVER,
    ...over,
  };
}

const SETUP = { kind: "setup", currency: "native", amount: ZERO } as const;
const BY_HOT = { kind: "sweep", wallet: 3, payer: "hot" } as const;
const NOT_BY_HOT = "is not swept by its hot wallet";

for (
  const [what, sweepBy, over, fault] of [
    ["nothing is set up where addresses pay for themselves", "coin", SETUP, NOT_BY_HOT],
    ["addresses authorise nothing there", "coin", BY_HOT, NOT_BY_HOT],
    ["without a setting addresses authorise nothing", undefined, BY_HOT, NOT_BY_HOT],
    ["the delegate is set up where it sweeps", "delegate", SETUP, null],
    ["a set-up moves nothing", "delegate", { ...SETUP, amount: amountOf("1") }, "moves nothing"],
    ["addresses are swept by the delegate", "delegate", BY_HOT, null],
    ["an address that was given coin before uses it", "delegate", { ...BY_HOT, payer: 3 }, null],
  ] as const
) {
  Deno.test(`the signer's word on sweeps: ${what}`, () => {
    const found = builderOf(sweepBy).intentFault(intentOf(over));
    if (fault === null) assertEquals(found, null);
    else assertStringIncludes(found ?? "", fault);
  });
}

test("a set-up is the creation of the hot wallet's own delegate, whatever its row says", async () => {
  const { Transaction, Wallet } = await import("ethers");
  const wallet = new Wallet(`0x${"11".repeat(32)}`);
  const key = {
    address: wallet.address,
    privateKey: Uint8Array.fromHex(wallet.privateKey.slice(2)),
  };
  const builder = builderOf("delegate");
  assertEquals(builder.setupOf?.(key.address), delegateOf(key.address));
  assertEquals(builderOf("coin").setupOf?.(key.address), null);
  const fields = envelopeTerms({
    gas: 400_000,
    maxFeePerGas: 3_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  const envelope: Envelope = {
    network: "ETH",
    fields,
    diesAfter: null,
    nonce: 7,
    expiresAt: null,
  };
  const { bytes } = builder.sign([intentOf(SETUP)], envelope, () => key, "");
  const { to, data, value, from } = Transaction.from(bytes);
  assertEquals([to, data, value, from], [DEPLOYER, creationData(key.address), 0n, key.address]);
});
