import { assertEquals } from "@std/assert";
import type { Network } from "../../ledger/money/pair.ts";
import { Warming } from "../../app/http/warming.ts";

function world() {
  const state = { now: 0, watched: new Set<Network>(), rates: false, asked: 0 };
  const warming = new Warming({
    networks: ["TRX", "TRX_SHASTA"],
    isWatched: (network) => {
      state.asked++;
      return Promise.resolve(state.watched.has(network));
    },
    hasRates: () => state.rates,
    monotonic: () => state.now,
  });
  return { state, warming };
}

Deno.test("a node is not ready before its actors run, its networks are watched and rates are known", async () => {
  const { state, warming } = world();
  assertEquals(await warming.reasons(), ["starting: the actors do not run yet"]);
  state.now = 60_000;
  assertEquals(await warming.reasons(), ["starting: the actors do not run yet"]);
  warming.begin();
  assertEquals(await warming.reasons(), [
    "starting: TRX was not reached yet",
    "starting: TRX_SHASTA was not reached yet",
    "starting: exchange rates are not known yet",
  ]);
  state.watched.add("TRX");
  state.rates = true;
  assertEquals(await warming.reasons(), ["starting: TRX_SHASTA was not reached yet"]);
  state.watched.add("TRX_SHASTA");
  assertEquals(await warming.reasons(), []);
  // it was warm once: what goes away later is a reason of its own kind
  state.watched.clear();
  const { asked } = state;
  assertEquals([await warming.reasons(), state.asked], [[], asked]);
});

Deno.test("one network that is away holds up the others for a moment only", async () => {
  const { state, warming } = world();
  state.watched.add("TRX");
  state.rates = true;
  warming.begin();
  state.now = 2_999;
  assertEquals(await warming.reasons(), ["starting: TRX_SHASTA was not reached yet"]);
  state.now = 3_000;
  assertEquals(await warming.reasons(), []);
});

Deno.test("networks that are all away hold up the node for a bounded time only", async () => {
  const { state, warming } = world();
  state.rates = true;
  warming.begin();
  state.now = 14_999;
  assertEquals((await warming.reasons()).length, 2);
  state.now = 15_000;
  assertEquals(await warming.reasons(), []);
});
