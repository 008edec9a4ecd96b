import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { addressToHex } from "../../chains/tron/address.ts";
import { CallCoolDowns } from "../../chains/nodes/call_cool_downs.ts";
import { CallFailed, NotServed, RateLimited, Suspended } from "../../chains/nodes/node_failures.ts";
import { pauseAfter } from "../../chains/nodes/node_health.ts";
import { needs } from "../support/permissions.ts";
import { adapterOver } from "../watcher/support/watch.ts";
import { block, OURS, PAYER, STRANGER, USDT, word } from "./support/block_fixture.ts";
import { movedClock } from "../support/moved_clock.ts";
import { type Script, startScriptedNode } from "./support/scripted_node.ts";

const ignore = needs({ net: true });
const HEAD = "/wallet/getblock";
const ACCOUNT = "/walletsolidity/getaccount";
const CALL = "/walletsolidity/triggerconstantcontract";

const hex = (text: string) => new TextEncoder().encode(text).toHex();
const answered: Script = () => ({ result: { result: true }, constant_result: [word(5)] });

/** Each of these is an answer to one question only. */
const troubles: Record<string, { readonly path: string; readonly script: Script }> = {
  "ran out of CPU time": {
    path: CALL,
    script: ({ owner_address }) =>
      owner_address === addressToHex(OURS)
        ? {
          result: {
            code: "OTHER_ERROR",
            message: hex("CPU timeout for 'SLOAD' operation executing"),
          },
        }
        : answered({}),
  },
  "has an odd balance": {
    path: ACCOUNT,
    script: ({ address }) =>
      address === addressToHex(OURS) ? { address, balance: 2 ** 60 } : { address, balance: 5 },
  },
  "has a result without end": {
    path: CALL,
    script: ({ owner_address }) =>
      owner_address === addressToHex(OURS)
        ? { result: { result: true }, constant_result: ["ab".repeat(5_000)] }
        : answered({}),
  },
  "is answered with an exception": {
    path: ACCOUNT,
    script: ({ address }) =>
      address === addressToHex(OURS)
        ? { Error: "class java.lang.NullPointerException : null" }
        : { address, balance: 5 },
  },
};
for (const [what, { path, script }] of Object.entries(troubles)) {
  Deno.test({
    name: `a call that ${what} is left alone by itself, and the only node answers all others`,
    ignore,
    fn: async () => {
      await using node = startScriptedNode({ [path]: script, [HEAD]: () => block([]) });
      const chain = adapterOver([node.url], USDT);
      const asset = path === CALL ? "USDT" : "native";
      for (let i = 0; i < 5; i++) {
        await assertRejects(() => chain.balanceOf(OURS, asset), ChainUnavailable);
        assert((await chain.balanceOf(PAYER, asset)) > 0n);
        assert((await chain.head()).height > 0);
      }
      const [state] = chain.nodes.states;
      assertEquals([state?.state, state?.coolingCalls], ["ready", 1]);
      const asked = node.requests.filter(({ body }) => body.includes(addressToHex(OURS))).length;
      assert(asked < 5, `it was asked ${asked} times`);
    },
  });
}

Deno.test({
  name: "a node that can answer nothing rests after several different calls in a row",
  ignore,
  fn: async () => {
    const odd: Script = () => ({ balance: "much" });
    await using node = startScriptedNode({ [ACCOUNT]: odd });
    const chain = adapterOver([node.url], USDT);
    for (const address of [OURS, OURS, OURS, PAYER]) {
      await assertRejects(() => chain.balanceOf(address, "native"), ChainUnavailable);
      assertEquals(chain.nodes.states[0]?.state, "ready");
    }
    await assertRejects(() => chain.balanceOf(STRANGER, "native"), ChainUnavailable);
    assertEquals(chain.nodes.states[0]?.state, "cooling-down");
    assert((chain.nodes.states[0]?.coolDownMs ?? Infinity) <= 500);
  },
});

Deno.test({
  name: "simulations that a node says it cannot run never rest it, however many there are",
  ignore,
  fn: async () => {
    await using node = startScriptedNode({
      [CALL]: () => ({ result: { code: "CONTRACT_EXE_ERROR", message: hex("OUT_OF_TIME") } }),
    });
    const chain = adapterOver([node.url], USDT);
    for (let i = 0; i < 10; i++) {
      await assertRejects(
        () => chain.balanceOf(chain.deriveAddress(i), "USDT"),
        ChainUnavailable,
        "CONTRACT_EXE_ERROR OUT_OF_TIME",
      );
    }
    assertEquals(chain.nodes.states[0]?.state, "ready");
  },
});

const closed: Record<string, Script> = {
  "a lite node": () => new Response("this API is closed because this node is a lite fullnode\n"),
  "a closed API": () =>
    Response.json({ Error: "this API is unavailable due to config" }, { status: 404 }),
};
for (const [what, script] of Object.entries(closed)) {
  Deno.test({
    name:
      `${what} is told as what it is, asked no more for that call, and the next node answers it`,
    ignore,
    fn: async () => {
      await using lite = startScriptedNode({ [ACCOUNT]: script, [HEAD]: () => block([]) });
      await using full = startScriptedNode({ [ACCOUNT]: () => ({ balance: 5 }) });
      const alone = adapterOver([lite.url], USDT);
      const error = await assertRejects(() => alone.balanceOf(OURS, "native"), NotServed);
      assertStringIncludes(error.message, `does not serve this call: ${new URL(lite.url).host}`);
      const chain = adapterOver([lite.url, full.url], USDT);
      const before = lite.requests.length;
      for (const address of [OURS, PAYER, STRANGER]) {
        assert((await chain.balanceOf(address, "native")) > 0n);
      }
      await chain.head();
      assertEquals(lite.requests.length - before, 2);
      assertEquals(chain.nodes.states.map(({ state, unserved }) => [state, unserved]), [
        ["ready", [ACCOUNT]],
        ["ready", []],
      ]);
    },
  });
}

Deno.test("a call's pause grows where it repeats, is bounded, and ends with an answer", () => {
  let now = 0;
  const coolDowns = new CallCoolDowns(() => now);
  const error = new CallFailed("malformed", "odd", "/wallet/x {}", false);
  const pauses: number[] = [];
  for (let i = 0; i < 8; i++) {
    coolDowns.failed(error);
    const from = now;
    while (coolDowns.failureOf(error.call) !== null) now += 250;
    pauses.push(now - from);
  }
  assertEquals(pauses, [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  coolDowns.succeeded(error.call);
  coolDowns.failed(error);
  now += 500;
  assertEquals(coolDowns.failureOf(error.call), null);
  for (let i = 0; i < 2_000; i++) {
    coolDowns.failed(new CallFailed("malformed", "odd", `/wallet/x ${i}`, false));
  }
  assertEquals(coolDowns.cooling, 500);
});

Deno.test("however a node fails, it is tried again within two minutes, and exactly when it said so itself", () => {
  const failures = [
    new ChainUnavailable("network", "away"),
    new ChainUnavailable("timeout", "silent"),
    new ChainUnavailable("server-error", "HTTP 500"),
    new RateLimited("HTTP 429", null),
    new RateLimited("HTTP 429", 1e12),
    new Suspended("suspended", 1e12),
  ];
  for (const failure of failures) {
    for (let times = 1; times < 100; times++) {
      const pause = pauseAfter(failure, times);
      assert(pause >= 500 && pause <= 120_000, `${pause} after ${failure.message}`);
    }
  }
  for (const times of [1, 2, 50]) {
    assertEquals(pauseAfter(new Suspended("suspended", 30_000), times), 30_000);
  }
});

Deno.test({
  name:
    "a node that suspends us in any body is asked nothing for exactly so long, not even to broadcast",
  ignore,
  fn: async () => {
    const words = "exceeds the frequency limit(15), and the query server is suspended for 90 s";
    const bodies: readonly Script[] = [
      () => Response.json({ Error: words }, { status: 403 }),
      () => ({ Error: words }),
      () => new Response(words, { status: 500 }),
    ];
    const signed = { txid: "ab".repeat(32), bytes: `{"txID":"${"ab".repeat(32)}"}`, expiresAt: 0 };
    for (const script of bodies) {
      await using node = startScriptedNode({ [HEAD]: script });
      const chain = adapterOver([node.url], USDT);
      await assertRejects(() => chain.head(), Suspended);
      const [state] = chain.nodes.states;
      assertEquals([state?.state, state?.callsPerSecond], ["cooling-down", 14]);
      assert((state?.suspendedMs ?? 0) > 30_000 && (state?.suspendedMs ?? 0) <= 90_000);
      await assertRejects(() => chain.head(), ChainUnavailable);
      const outcome = await chain.broadcast(signed);
      assertEquals([outcome.category, node.requests.length], ["unclear", 1]);
      node.scripts[HEAD] = () => block([]);
      using clock = movedClock();
      clock.advance(90_000);
      assertEquals(chain.nodes.states[0]?.coolDownMs, 0);
      assert((await chain.head()).height > 0);
      assertEquals(chain.nodes.states[0]?.failure, null);
    }
  },
});
