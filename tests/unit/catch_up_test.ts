import { assertEquals } from "@std/assert";
import { ScanMemory } from "../../actors/watcher/scan_memory.ts";
import { paperChain } from "../support/paper_chain.ts";

/** Time between two blocks, and the blocks of five minutes. */
const PACES = [[12_000, 25], [3_000, 100], [450, 667], [400, 750]] as const;

Deno.test("a scan is catching up from five minutes on, however many blocks its chain makes in them", () => {
  for (const [blockMs, blocks] of PACES) {
    const chain = paperChain("TRX");
    const paced = { ...chain, capabilities: { ...chain.capabilities, blockMs } };
    const { progress } = new ScanMemory(paced, () => 0);
    progress.record(1_000, 1_000 + blocks - 1);
    assertEquals(progress.state, null, `blocks of ${blockMs} ms`);
    progress.record(1_000, 1_000 + blocks);
    assertEquals(progress.state, { perSecond: 0, left: blocks }, `blocks of ${blockMs} ms`);
  }
});
