import { assertEquals, assertRejects } from "@std/assert";
import type { Chain } from "../../chains/chain.ts";
import { verifiedFirst } from "../../chains/verified_chain.ts";
import { paperChain, paperGas } from "../support/paper_chain.ts";

const WRONG = "its contract has 18 decimals";

/** A chain whose check fails as long as it is said to, and what was asked of it before it passed. */
function doubted() {
  const state = { isWrong: true, checks: 0 };
  const chain = verifiedFirst({
    ...paperChain("TRX", { gas: paperGas() }),
    verify: () => {
      state.checks += 1;
      return state.isWrong ? Promise.reject(new Error(WRONG)) : Promise.resolve();
    },
  });
  return { chain, state };
}

/** Members that answer from what the service knows itself, and the one that sends what is signed. */
const FREE = [
  "address",
  "addressOf",
  "eventAddress",
  "transactionId",
  "deriveAddress",
  "envelope",
  "termsOf",
  "broadcast",
];

type Method = (...given: unknown[]) => Promise<unknown> | AsyncGenerator | string | null;

/** Calls any member as if it were a method; one that answers piece by piece is asked for its first. */
async function call(target: object, name: string): Promise<void> {
  const method: Method = Reflect.get(target, name);
  const answer = Reflect.apply(method, target, ["1", { time: 1 }]);
  if (typeof answer === "object" && answer !== null && "next" in answer) await answer.next();
  else await answer;
}

function methodsOf(target: object): string[] {
  return Object.keys(target).filter((name) => typeof Reflect.get(target, name) === "function");
}

Deno.test("every method of a chain that asks nodes waits for the chain's check, one of its ports too", async () => {
  const { chain } = doubted();
  const methods = methodsOf(paperChain("TRX")).filter((name) => !FREE.includes(name));
  assertEquals(methods.length > 5, true);
  for (const name of methods) await assertRejects(() => call(chain, name), Error, WRONG, name);
  const { gas = {} } = chain;
  assertEquals(methodsOf(paperGas()).length, 3);
  for (const name of methodsOf(paperGas())) {
    await assertRejects(() => call(gas, name), Error, WRONG, name);
  }
});

Deno.test("a method of an unknown name waits for the check as well", async () => {
  const extra = { ...paperChain("TRX"), verify: () => Promise.reject(new Error(WRONG)) };
  const chain = verifiedFirst(Object.assign(extra, { newest: () => Promise.resolve(1) }));
  await assertRejects(() => call(chain, "newest"), Error, WRONG);
});

Deno.test("what asks no node, and the broadcast of signed bytes, do not wait for the check", async () => {
  const { chain, state } = doubted();
  for (const name of FREE) await call(chain, name);
  const { network, hotWallet, capabilities } = chain;
  assertEquals([network, hotWallet, capabilities.currencies], ["TRX", "hot-wallet", [
    "USDT",
    "USDC",
  ]]);
  assertEquals(state.checks, 0);
});

Deno.test("a chain that was checked once is not checked again, one that was not is", async () => {
  const { chain, state } = doubted();
  await assertRejects(() => chain.solid());
  await assertRejects(() => chain.solid());
  assertEquals(state.checks, 2);
  state.isWrong = false;
  const asked: (keyof Chain)[] = ["head", "solid", "blocks"];
  for (const name of asked) await call(chain, name);
  assertEquals((await chain.solid()).height, 7);
  assertEquals(state.checks, 3);
});
