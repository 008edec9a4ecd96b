import { assertEquals, assertRejects } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { estimateTokenTransfer } from "../../chains/tron/read/estimate_fee.ts";
import { addressToHex } from "../../chains/tron/address.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";
import { tronBlockAt } from "../../chains/tron/read/read_blocks.ts";
import { readTokenSwitches } from "../../chains/tron/read/token_switches.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { needs } from "../support/permissions.ts";
import { type Json, OURS, PAYER, STRANGER, transferLog, USDT } from "./support/block_fixture.ts";
import { type Script, startScriptedNode } from "./support/scripted_node.ts";

const ignore = needs({ net: true });
const CALL = "/wallet/triggerconstantcontract";
const PRICES = { energy: 100, byte: 1_000, activation: 1_100_000 };

function poolOver(node: { readonly url: string }): NodePool {
  return new NodePool([new ChainNode({ url: node.url, requestTimeoutMs: 60_000 })], {
    totalTimeoutMs: 60_000,
    blockAt: tronBlockAt,
  });
}

Deno.test({
  name:
    "what a simulated transfer brings is told by its events, and by nothing where there are none",
  ignore,
  fn: async () => {
    const cases: readonly (readonly [string, readonly Json[] | null, string | undefined])[] = [
      ["in full", [transferLog(USDT, PAYER, OURS, 10_000_000)], "10"],
      ["less a fee", [
        transferLog(USDT, PAYER, OURS, 9_900_000),
        transferLog(USDT, PAYER, STRANGER, 100_000),
      ], "9.9"],
      ["to another", [transferLog(USDT, PAYER, STRANGER, 10_000_000)], "0"],
      ["from another", [transferLog(USDT, STRANGER, OURS, 10_000_000)], "0"],
      ["of another token", [transferLog(STRANGER, PAYER, OURS, 10_000_000)], "0"],
      ["no events", null, undefined],
    ];
    for (const [what, logs, arrives] of cases) {
      await using node = startScriptedNode({
        [CALL]: () => ({
          result: { result: true },
          energy_used: 64_285,
          ...(logs === null ? {} : { logs }),
        }),
      });
      const fee = await estimateTokenTransfer(
        poolOver(node),
        PRICES,
        {
          owner: addressToHex(PAYER),
          contract: addressToHex(USDT),
          to: addressToHex(OURS),
          units: 10_000_000n,
          decimals: 6,
        },
        150_000_000,
      );
      assertEquals(fee.arrives, arrives === undefined ? undefined : amountOf(arrives), what);
    }
  },
});

/** A token that answers these methods with a word each, and reverts any other call. */
function tokenWith(words: Readonly<Record<string, string>>): Script {
  return (body) => {
    const word = words[String(body.function_selector)];
    return word === undefined
      ? {
        result: { result: true, message: "524556455254206f70636f6465206578656375746564" },
        transaction: { ret: [{ ret: "FAILED" }] },
      }
      : { result: { result: true }, energy_used: 935, constant_result: [word] };
  };
}

Deno.test({
  name:
    "switches are read by the names that tokens have for them; one that lacks a name is as usual",
  ignore,
  fn: async () => {
    const word = (value: number) => value.toString(16).padStart(64, "0");
    const usual = { isPaused: false, keepsPart: false, successor: null, isBlocked: false };
    const upgraded = addressToHex(STRANGER).slice(2).padStart(64, "0");
    const cases: readonly (readonly [Readonly<Record<string, string>>, object])[] = [
      [{}, {}],
      [{ "paused()": word(1) }, { isPaused: true }],
      [{ "basisPointsRate()": word(10) }, { keepsPart: true }],
      [{ "basisPointsRate()": word(10), "maximumFee()": word(0) }, {}],
      [{ "deprecated()": word(0), "upgradedAddress()": upgraded }, {}],
      [{ "deprecated()": word(1), "upgradedAddress()": upgraded }, { successor: STRANGER }],
      [{ "getBlackListStatus(address)": word(1) }, { isBlocked: true }],
      [{ "isBlackListed(address)": word(1) }, { isBlocked: true }],
      [{ "isBlacklisted(address)": word(1), "paused()": "" }, { isBlocked: true }],
    ];
    for (const [words, expected] of cases) {
      await using node = startScriptedNode({ [CALL]: tokenWith(words) });
      const read = readTokenSwitches(poolOver(node), addressToHex(USDT), addressToHex(PAYER));
      assertEquals(await read, { ...usual, ...expected }, JSON.stringify(words));
    }
    await using odd = startScriptedNode({ [CALL]: tokenWith({ "paused()": "01" }) });
    await assertRejects(
      () => readTokenSwitches(poolOver(odd), addressToHex(USDT), addressToHex(PAYER)),
      ChainUnavailable,
      "is no word",
    );
  },
});
