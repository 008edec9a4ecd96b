import { assert, assertEquals, assertRejects } from "@std/assert";
import { binance } from "../../rates/binance.ts";
import { coinOf, coinsOf } from "../../rates/coins.ts";
import { publicSources } from "../../rates/public_sources.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { NETWORKS } from "../../ledger/money/pair.ts";
import { coinbase } from "../../rates/coinbase.ts";
import { coinGecko } from "../../rates/coingecko.ts";
import { kraken } from "../../rates/kraken.ts";
import { RateBoard } from "../../rates/rate_board.ts";
import { usdRate } from "../../rates/rates.ts";
import { rateOf, RateUnavailable } from "../../rates/source.ts";
import { testNeeding } from "../support/permissions.ts";

/** The sources stand on this machine. */
const test = testNeeding({ net: true });

/** Answers of the shapes that the sources document, at the paths they document. */
const RECORDED: Readonly<Record<string, string>> = {
  "/v2/exchange-rates?currency=USDT": `{"data":{"currency":"USDT","rates":{
    "AED":"3.6719999","BTC":"0.0000091","EUR":"0.8601","USD":"0.99975","00":"1","NGN":"0"}}}`,
  "/v2/exchange-rates?currency=USDC": `{"data":{"currency":"USDC","rates":{"USD":"1"}}}`,
  "/0/public/Ticker": `{"error":[],"result":{
    "USDTZUSD":{"a":["0.99970","1","1.0"],"b":["0.99960","1","1.0"],"c":["0.99965","120.5"]},
    "USDTEUR":{"a":["0.8604","1","1.0"],"b":["0.8602","1","1.0"],"c":["0.86030","55.1"]}}}`,
  "/api/v3/simple/price":
    `{"tether":{"usd":0.9998120000000000001,"eur":0.8602,"vnd":26250,"btc":9.1e-06,"jpy":null}}`,
};

interface Recorded extends AsyncDisposable {
  readonly url: string;
  /** Takes the place of what was recorded. */
  answer: ((path: string) => Response) | null;
}

function recorded(): Recorded {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    if (source.answer !== null) return source.answer(pathname);
    const text = RECORDED[pathname + search] ?? RECORDED[pathname];
    return new Response(text ?? "{}", { status: text === undefined ? 404 : 200 });
  });
  const source: Recorded = {
    url: `http://127.0.0.1:${server.addr.port}`,
    answer: null,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return source;
}

/** Answers of sources about a chain's own coin. */
const COIN: Readonly<Record<string, string>> = {
  "/0/public/Ticker": `{"error":[],"result":{
    "TRXUSD":{"c":["0.30012","120.5"]},"TRXEUR":{"c":["0.25811","55.1"]}}}`,
  "/api/v3/simple/price": `{"tron":{"usd":0.2999,"eur":0.258}}`,
  "/api/v3/ticker/price": `{"symbol":"TRXUSDT","price":"0.30030000"}`,
};

test("Ethereum's coin is known by the older name that a source answers", async () => {
  await using source = recorded();
  source.answer = () =>
    new Response(`{"error":[],"result":{
      "XETHZUSD":{"c":["3000.5","1"]},"ETHEUR":{"c":["2600.1","1"]},"XXBTZUSD":{"c":["1","1"]}}}`);
  assertEquals(
    await kraken(["ETH"], source.url).read("ETH", signal()),
    new Map([["USD", "3000.5"], ["EUR", "2600.1"]]),
  );
});

Deno.test("every network's coin is priced, and none is asked for whose networks are not served", () => {
  for (const network of NETWORKS) assertEquals(coinOf(network), PROFILES[network].coin.symbol);
  assertEquals(coinsOf(["TRX", "TRX_SHASTA"]), ["TRX"]);
  assertEquals(coinsOf(["SEP", "TRX", "ETH"]), ["ETH", "TRX"]);
  const asked = publicSources(coinsOf(["TRX"])).flatMap(({ prices }) => prices ?? []);
  assertEquals([...new Set(asked)].toSorted(), ["TRX", "USDC", "USDT"]);
});

const signal = () => AbortSignal.timeout(5_000);

test("each source's recorded answer is read, digit by digit, and only the money of states", async () => {
  await using source = recorded();
  assertEquals(
    await coinbase(source.url).read("USDT", signal()),
    new Map([["AED", "3.6719999"], ["EUR", "0.8601"], ["USD", "0.99975"]]),
  );
  assertEquals(
    await kraken(["TRX"], source.url).read("USDT", signal()),
    new Map([["USD", "0.99965"], ["EUR", "0.8603"]]),
  );
  assertEquals(
    await coinGecko(["TRX"], source.url).read("USDT", signal()),
    // 19 digits, of which a binary fraction keeps 16
    new Map([["USD", "0.999812"], ["EUR", "0.8602"], ["VND", "26250"]]),
  );
});

test("an answer that is no rates is a source that does not tell", async (t) => {
  await using source = recorded();
  const answers: readonly [string, () => Response][] = [
    ["HTTP 429", () => new Response("{}", { status: 429 })],
    ["no JSON", () => new Response("<html>")],
    ["another shape", () => new Response(`{"data":[]}`)],
    ["an error of the source", () => new Response(`{"error":["EQuery:Unknown asset pair"]}`)],
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "/elsewhere" } })],
    ["too long", () => new Response(`"${"x".repeat(2_000_000)}"`)],
  ];
  for (const [name, answer] of answers) {
    await t.step(name, async () => {
      source.answer = answer;
      for (
        const made of [coinbase(source.url), kraken([], source.url), coinGecko([], source.url)]
      ) {
        await assertRejects(() => made.read("USDT", signal()), RateUnavailable);
      }
    });
  }
});

Deno.test("a rate is a positive decimal of a size that makes sense", () => {
  assertEquals(rateOf("1.10"), "1.1");
  assertEquals(rateOf("9.1e-06"), "0.0000091");
  assertEquals(rateOf("2.625E+4"), "26250");
  assertEquals(rateOf("0.9998120000000000001"), "0.999812");
  for (const text of ["0", "-1", "", " 1", "NaN", "Infinity", "1e21", "1e-19", "1e999", "0x1"]) {
    assertEquals(rateOf(text), null, text);
  }
});

test("the board tells what its sources agree on, as long as it is fresh", async () => {
  await using source = recorded();
  let now = 1_000_000;
  const board = new RateBoard({
    sources: [coinbase(source.url), kraken(["TRX"], source.url), coinGecko(["TRX"], source.url)],
    now: () => now,
    maxAgeMs: 60_000,
  });
  assertEquals(board.find("USDT", "USD"), null);
  assertEquals(usdRate(board, "USDT"), "1");
  await board.refresh();
  assertEquals(board.find("USDT", "USD"), { rate: "0.99975", at: 1_000_000 });
  assertEquals(usdRate(board, "USDT"), "0.99975");
  assertEquals(board.find("USDT", "EUR")?.rate, "0.8602");
  // one source alone is not believed
  assertEquals(board.find("USDT", "AED"), null);
  assertEquals(board.find("USDC", "USD"), null);
  now += 60_000;
  assert(board.find("USDT", "USD") !== null);
  now += 1;
  assertEquals(board.find("USDT", "USD"), null);
  assertEquals(usdRate(board, "USDT"), "1");
  now = 999_999;
  assertEquals(board.find("USDT", "USD"), null);
});

test("sources that fail keep what they told until it is too old", async () => {
  await using source = recorded();
  let now = 0;
  const board = new RateBoard({
    sources: [coinbase(source.url), kraken(["TRX"], source.url)],
    now: () => now,
    maxAgeMs: 60_000,
  });
  await board.refresh();
  source.answer = () => new Response("", { status: 503 });
  now = 50_000;
  await board.refresh();
  assertEquals(board.find("USDT", "USD"), { rate: "0.9997", at: 0 });
  now = 60_001;
  await board.refresh();
  assertEquals(board.find("USDT", "USD"), null);
});

test("a source that hangs holds nobody up when the service stops", async () => {
  await using source = recorded();
  const asked = Promise.withResolvers<void>();
  const hanging = {
    name: "hanging",
    read: (_currency: string, bound: AbortSignal) =>
      new Promise<never>((_, reject) => {
        asked.resolve();
        bound.addEventListener("abort", () => reject(new RateUnavailable("stopped")));
      }),
  };
  const board = new RateBoard({ sources: [hanging, kraken(["TRX"], source.url)], now: () => 0 });
  board.start();
  await asked.promise;
  await board.stop();
});

test("a chain's own coin has a rate where sources agree on it; a stablecoin's sources are asked for no coin", async () => {
  await using source = recorded();
  source.answer = (path) => new Response(COIN[path] ?? "{}");
  assertEquals(
    await binance(["TRX"], source.url).read("TRX", signal()),
    new Map([["USD", "0.3003"]]),
  );
  assertEquals(
    await kraken(["TRX"], source.url).read("TRX", signal()),
    new Map([["USD", "0.30012"], ["EUR", "0.25811"]]),
  );
  const asked: string[] = [];
  const listed = coinbase(source.url);
  const board = new RateBoard({
    sources: [
      {
        ...listed,
        read: (priced, bound) => {
          asked.push(priced);
          return listed.read(priced, bound);
        },
      },
      kraken(["TRX"], source.url),
      coinGecko(["TRX"], source.url),
      binance(["TRX"], source.url),
    ],
    now: () => 5,
  });
  await board.refresh();
  assertEquals(board.find("TRX", "USD"), { rate: "0.30012", at: 5 });
  assertEquals(asked.toSorted(), ["USDC", "USDT"]);
  source.answer = () => new Response(`{"symbol":"TRXBTC","price":"0.3"}`);
  await assertRejects(() => binance(["TRX"], source.url).read("TRX", signal()), RateUnavailable);
});
