/** Signed bytes are offered to all nodes, and none of those that are silent holds up what is to be sent next. */

import { assertEquals } from "@std/assert";
import { type BroadcastOutcome, ChainUnavailable } from "../../chains/chain.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NodePool } from "../../chains/nodes/node_pool.ts";
import { Offers, unclear } from "../../chains/nodes/offers.ts";

type Answers = Readonly<Record<string, BroadcastOutcome | "none">>;

const ACCEPTED: BroadcastOutcome = { category: "accepted", retryable: true };
const KNOWN: BroadcastOutcome = { category: "known", retryable: true, code: "KNOWN" };
const REJECTED: BroadcastOutcome = {
  category: "rejected",
  retryable: true,
  code: "POOL_FULL",
  message: "txpool is full",
};

function nodeOf(name: string): ChainNode {
  return new ChainNode({ url: `http://${name}.local`, requestTimeoutMs: 5_000 });
}

/** Offers to nodes with these answers; one that has none is silent until its offer is given up. */
function rig(answers: Answers, leftAlone: readonly string[] = []) {
  const nodes = Object.keys(answers).map(nodeOf);
  const offered: string[] = [];
  const ended: string[] = [];
  const over = new AbortController();
  const offers = new Offers(nodes, ({ label }) => leftAlone.includes(label));
  const offer = async ({ label }: ChainNode, signal: AbortSignal) => {
    offered.push(label);
    const answer = answers[label.replace(".local", "")] ?? "none";
    if (answer !== "none") return answer;
    return await new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => {
        ended.push(label);
        reject(new ChainUnavailable("timeout", "Cannot ask a node as it is silent"));
      })
    );
  };
  return { offered, ended, over, send: () => offers.toAll(offer, over.signal) };
}

/** Watches for timers. @returns true where none has gone off since, so that nothing was waited for */
function withoutTimers(): () => boolean {
  let hasGoneOff = false;
  const timer = setTimeout(() => hasGoneOff = true, 0);
  return () => {
    clearTimeout(timer);
    return !hasGoneOff;
  };
}

for (const [said, outcome] of [["takes", ACCEPTED], ["has", KNOWN]] as const) {
  Deno.test(`that one node ${said} the bytes is reported while another one is silent`, async () => {
    const { send, offered, ended, over } = rig({ silent: "none", good: outcome });
    const atOnce = withoutTimers();
    assertEquals(await send(), outcome);
    assertEquals(atOnce(), true);
    assertEquals([offered, ended], [["silent.local", "good.local"], []]);
    over.abort();
  });
}

Deno.test("a rejection beside a silent node is a doubt, and the silent one is not waited for to its end", async () => {
  const { send, ended, over } = rig({ silent: "none", full: REJECTED });
  assertEquals(await send(), unclear("SILENT"));
  assertEquals(ended, []);
  over.abort();
});

Deno.test("a node that is left alone is offered the bytes, and is not waited for", async () => {
  const { send, offered, ended, over } = rig({ rests: "none", full: REJECTED }, ["rests.local"]);
  const atOnce = withoutTimers();
  assertEquals(await send(), unclear("SILENT"));
  assertEquals(atOnce(), true);
  assertEquals([offered, ended], [["rests.local", "full.local"], []]);
  over.abort();
});

Deno.test("where all nodes are left alone what one of them answers counts", async () => {
  const { send, over } = rig({ rests: "none", back: ACCEPTED }, ["rests.local", "back.local"]);
  assertEquals(await send(), ACCEPTED);
  over.abort();
});

Deno.test("a node that never answers has so many offers under way, and gets the next ones when they have ended", async () => {
  const { send, offered, over } = rig({ silent: "none", good: ACCEPTED });
  const toSilent = () => offered.filter((label) => label === "silent.local").length;
  for (let n = 0; n < 70; n++) await send();
  assertEquals([toSilent(), offered.length], [64, 64 + 70]);
  over.abort();
  await new Promise((resolve) => setTimeout(resolve, 0));
  await send();
  assertEquals(toSilent(), 65);
});

Deno.test("a silent node that is cooling down holds no broadcast of its pool up", async () => {
  const [silent, full] = [nodeOf("silent"), nodeOf("full")];
  const pool = new NodePool([silent, full], {
    totalTimeoutMs: 5_000,
    blockAt: () => Promise.resolve(null),
  });
  await pool.read((node) => {
    if (node === full) return Promise.resolve("read");
    throw new ChainUnavailable("timeout", "Cannot ask a node as it is silent");
  });
  const over = new AbortController();
  const atOnce = withoutTimers();
  const outcome = await pool.offers.toAll(async (node, signal) => {
    if (node === full) return REJECTED;
    return await new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(new ChainUnavailable("timeout", "silent")))
    );
  }, over.signal);
  assertEquals([outcome, atOnce()], [unclear("SILENT"), true]);
  over.abort();
});
