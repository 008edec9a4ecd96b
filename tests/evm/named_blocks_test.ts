import { assertEquals } from "@std/assert";
import { NamedBlocks } from "../../chains/evm/read/named_blocks.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { headSchema } from "../../chains/evm/read/answers.ts";
import { composeBlock } from "./support/block_fixture.ts";

const nodeAt = (url: string) => new ChainNode({ url, requestTimeoutMs: 1_000 });

Deno.test("a newest block is the one at its height for a moment, and for its own node alone", () => {
  const clock = { now: 5_000 };
  const named = new NamedBlocks(() => clock.now);
  const [node, other] = [nodeAt("http://127.0.0.1:1"), nodeAt("http://127.0.0.1:2")];
  const head = headSchema.parse(composeBlock(7, []).head);
  named.record(node, head);
  assertEquals(named.at(node, 7), head);
  assertEquals([named.at(node, 6), named.at(node, 8), named.at(other, 7)], [null, null, null]);
  clock.now += 999;
  assertEquals(named.at(node, 7), head);
  clock.now++;
  assertEquals(named.at(node, 7), null, "another block may be at its height by now");
});
