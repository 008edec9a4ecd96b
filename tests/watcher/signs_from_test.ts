import { assertEquals } from "@std/assert";
import { isBehindSigning, ScanMemory } from "../../actors/watcher/scan_memory.ts";
import { paperChain } from "../support/paper_chain.ts";

/** A scan's memory with a clock that is set. */
function openMemory() {
  const clock = { now: 1_000 };
  const memory = new ScanMemory(paperChain("TRX"), () => clock.now);
  const state = () => {
    // blocks above are compared in the same look
    if (memory.isScanReached) memory.comparison.agree();
    return [memory.status.signsFrom, isBehindSigning(memory.status)];
  };
  return { clock, memory, state };
}

Deno.test("nothing is signed before nodes have said how long the chain is, and before a start's scan has read so far, once", () => {
  const { memory, state } = openMemory();
  assertEquals(isBehindSigning(undefined), true);
  assertEquals(state(), [null, true]);
  memory.recordChainSolid({ height: 100, time: 1 });
  memory.recordRead(40, 1);
  assertEquals(state(), [100, true]);
  memory.recordChainSolid({ height: 130, time: 1 });
  memory.recordRead(99, 1);
  assertEquals(state(), [100, true], "what the chain grows by meanwhile is not waited for");
  memory.recordRead(100, 1);
  assertEquals(state(), [100, false]);
  memory.recordChainSolid({ height: 900, time: 1 });
  assertEquals(state(), [100, false], "a scan that falls behind later stops nothing");
});

Deno.test("where the cursor goes back, nothing is signed before the scan has read what it had read", () => {
  const { memory, state } = openMemory();
  memory.recordChainSolid({ height: 100, time: 1 });
  memory.recordRead(100, 1);
  memory.recordChainSolid({ height: 150, time: 1 });
  memory.recordRead(150, 1);
  memory.recordRead(60, 1);
  memory.recordChainSolid({ height: 151, time: 1 });
  assertEquals(state(), [150, true]);
  memory.recordRead(120, 1);
  assertEquals(state(), [150, true]);
  memory.recordRead(150, 1);
  assertEquals(state(), [150, false]);
});

Deno.test("a block that a node has named once and no chain has holds signing for ten minutes and no longer", () => {
  const { clock, memory, state } = openMemory();
  memory.recordChainSolid({ height: 1_000_000, time: 1 });
  memory.recordRead(120, 1);
  clock.now += 9 * 60_000;
  memory.recordChainSolid({ height: 120, time: 1 });
  assertEquals(state(), [1_000_000, true]);
  clock.now += 2 * 60_000;
  memory.recordChainSolid({ height: 121, time: 1 });
  assertEquals(state(), [121, true]);
  memory.recordRead(121, 1);
  assertEquals(state(), [121, false]);
});

Deno.test("a block that a node names again and again and no chain has holds signing until a solid block is read that was made after it", () => {
  const { clock, memory, state } = openMemory();
  const time = Date.now() + 60_000;
  memory.recordChainSolid({ height: 1_000, time });
  for (let height = 100; height < 110; height++) {
    clock.now += 60_000;
    memory.recordChainSolid({ height: 1_000, time });
    memory.recordRead(height, time);
    assertEquals(state(), [1_000, true]);
  }
  memory.recordRead(110, time + 1);
  assertEquals(state(), [110, false]);
});

Deno.test("a block that no chain has and whose time is long ago holds signing until a solid block is read that was made after it was named", () => {
  const { memory, state } = openMemory();
  const before = Date.now();
  memory.recordChainSolid({ height: 10_000_000, time: 1_000 });
  memory.recordRead(100, 2_000_000);
  assertEquals(state(), [10_000_000, true]);
  memory.recordRead(101, before);
  assertEquals(state(), [10_000_000, true]);
  memory.recordRead(102, Date.now() + 1);
  assertEquals(state(), [102, false]);
});
