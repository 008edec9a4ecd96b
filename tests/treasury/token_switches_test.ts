import { assertEquals, assertStringIncludes } from "@std/assert";
import { TokenWatch, troublesOf } from "../../actors/treasury/token_watch.ts";
import { ChainUnavailable, type TokenSwitches } from "../../chains/chain.ts";
import { addressOf } from "../support/api.ts";
import { booksFaults, until } from "../support/books.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);
const USUAL: TokenSwitches = {
  isPaused: false,
  keepsPart: false,
  successor: null,
  isBlocked: false,
};

test("the switches of a token are read from it as its issuer has set them", async () => {
  await using rig = await openTreasuryRig();
  const { chain } = rig;
  const read = () => chain.tokenSwitches("USDT", chain.hotWallet);
  assertEquals(await read(), USUAL);
  const successor = addressOf(0x50cc);
  const cases = [
    [{ paused: true }, { isPaused: true }],
    [{ paused: false, feeBasisPoints: 10 }, { keepsPart: true }],
    [{ maximumFee: "0" }, {}],
    [{ feeBasisPoints: 0, upgradedTo: successor }, { successor }],
    [{ upgradedTo: null, blocked: [addressOf(1)] }, {}],
    [{ blocked: [addressOf(1), chain.hotWallet] }, { isBlocked: true }],
  ] as const;
  for (const [switched, expected] of cases) {
    await rig.control("/dev/token-switches", switched);
    await rig.mine(1);
    assertEquals(await read(), { ...USUAL, ...expected });
  }
});

test("a payout that its token would not hand over in full is not signed, and is paid when it does", async () => {
  await using rig = await openTreasuryRig();
  const { key } = await rig.merchant("1000");
  const fee = async (points: number) => {
    await rig.control("/dev/token-switches", { feeBasisPoints: points });
    await rig.mine(1);
  };
  await fee(100);
  const id = await rig.withdraw(key, "10", addressOf(0xdead));
  await until(async () => (await rig.payout(id)).reason !== null);
  assertEquals(await rig.payout(id), {
    id: (await rig.payout(id)).id,
    status: "queued",
    reason: "the token would keep a part",
    outcomes: [],
    evidence: null,
  });
  await fee(0);
  await rig.mineUntil("it is paid", async () => (await rig.payout(id)).status === "final");
  assertEquals((await rig.payout(id)).outcomes, ["paid"]);
  assertEquals(await booksFaults(rig.sql), []);
});

Deno.test("what issuers have switched is told by name, and holds what cannot leave", () => {
  const cases: readonly (readonly [Partial<TokenSwitches>, string, boolean])[] = [
    [{ isPaused: true }, "paused", true],
    [{ keepsPart: true }, "keeps a part", true],
    [{ isBlocked: true }, "blocked the hot wallet", true],
    [{ successor: "T1" }, "deposits there are not seen: T1", false],
  ];
  assertEquals(troublesOf("USDT", USUAL), []);
  for (const [switched, text, holds] of cases) {
    const [trouble, ...others] = troublesOf("USDT", { ...USUAL, ...switched });
    assertEquals([others.length, trouble?.holds], [0, holds]);
    assertStringIncludes(trouble?.text ?? "", text);
  }
});

Deno.test("switches are read every hour, every minute while one is not as usual, and believed while nodes are silent", async () => {
  let clock = 0;
  let asked = 0;
  let answer: () => Promise<TokenSwitches> = () => Promise.resolve(USUAL);
  const chain = {
    ...paperChain("TRX"),
    capabilities: { ...paperChain("TRX").capabilities, currencies: ["USDT"] as const },
    tokenSwitches: () => {
      asked++;
      return answer();
    },
  };
  const watch = new TokenWatch(chain, () => clock);
  const lookAt = async (at: number) => {
    clock = at;
    return [await watch.poll(), asked, watch.held];
  };
  const hour = 3_600_000;
  const reason = "waiting for the token: its issuer has paused all transfers";
  assertEquals(await lookAt(0), [[], 1, []]);
  assertEquals(await lookAt(hour - 1), [[], 1, []]);
  answer = () => Promise.resolve({ ...USUAL, isPaused: true });
  assertEquals(await lookAt(hour), [[], 2, ["USDT"]]);
  assertEquals(await lookAt(hour + 59_999), [[], 2, ["USDT"]]);
  answer = () => Promise.reject(new ChainUnavailable("timeout", "Cannot read as it took too long"));
  assertEquals(await lookAt(hour + 60_000), [[], 3, ["USDT"]]);
  answer = () => Promise.resolve(USUAL);
  assertEquals(await lookAt(hour + 120_000), [[reason], 4, []]);
  assertEquals(await lookAt(hour + 180_000), [[], 4, []]);
});
