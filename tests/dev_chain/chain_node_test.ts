import { assertEquals, assertGreater, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { fromBase58, toBase58 } from "../../devchain/address.ts";
import { ChainNode } from "../../devchain/chain_node.ts";
import { ProtoWriter, readFields } from "../../devchain/protobuf.ts";
import { Store } from "../../devchain/store.ts";
import { chainTest } from "./support/chain.ts";

/** Runs a test on a new chain whose clock the test holds. */
async function withNode(
  work: (node: ChainNode, clock: { now: number }) => void,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "dev-chain-" });
  const store = new Store(folder);
  const clock = { now: 1_800_000_000_000 };
  try {
    work(new ChainNode(store, 3, () => clock.now), clock);
  } finally {
    store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

chainTest(
  "block time grows although the clock stands still or goes back",
  () =>
    withNode((node, clock) => {
      let latest = node.head.time;
      for (const step of [0, 0, -5_000, -1, 0]) {
        clock.now += step;
        node.mine(1, 1_000);
        assertGreater(node.head.time, latest);
        latest = node.head.time;
      }
    }),
);

chainTest(
  "a block made again after a reorganisation has another id, clock or no clock",
  () =>
    withNode((node) => {
      node.mine(2, 1_000);
      const dropped = node.head;
      node.reorganise(1, false);
      node.mine(1, 1_000);
      assertEquals(node.head.height, dropped.height);
      assertNotEquals(node.head.id, dropped.id);
      assertGreater(node.head.time, dropped.time);
    }),
);

chainTest(
  "mined ahead of the clock, block time runs on at half its pace until it has caught up",
  () =>
    withNode((node, clock) => {
      clock.now += 1_000;
      node.mine(11, 60_000);
      const ahead = node.head.time;
      assertEquals(ahead - clock.now, 600_000);
      clock.now += 1_000;
      node.mine(1, 1_000);
      assertEquals(node.head.time, ahead + 500);
      clock.now += 2_000_000;
      node.mine(1, 1_000);
      assertEquals(node.head.time, clock.now);
      clock.now += 1_000;
      node.mine(1, 1_000);
      assertEquals(node.head.time, clock.now);
    }),
);

Deno.test("every address survives base58 and back, and no changed letter does", () => {
  const hex = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => "41" + bytes.toHex());
  fc.assert(fc.property(hex, fc.nat(33), (address, at) => {
    const text = toBase58(address);
    assertEquals(text.length, 34);
    assertEquals(fromBase58(text), address);
    const other = text[at] === "7" ? "8" : "7";
    assertEquals(fromBase58(text.slice(0, at) + other + text.slice(at + 1)), null);
  }));
  assertEquals(
    toBase58("41a614f803b6fd780986a42c78ec9c7f77e6ded13c"),
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  );
});

Deno.test("every whole number survives protobuf and back", () => {
  fc.assert(fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 2_000 }), (value, no) => {
    const fields = readFields(new ProtoWriter().int(no, value).finish());
    assertEquals(fields, value === 0 ? [] : [{ no, kind: "int", value }]);
  }));
});
