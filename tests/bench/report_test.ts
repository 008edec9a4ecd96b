import { assert, assertEquals } from "@std/assert";
import { report } from "./report.ts";
import type { Results } from "./results.ts";
import type { ScanMeasurement } from "./scan/measure_scan.ts";

function run(stolen: number | null, loadBefore: number, scans: ScanMeasurement[] = []): Results {
  return {
    startedAt: "2026-01-01T00:00:00.000Z",
    commit: null,
    machine: {
      cores: 2,
      processor: "a processor",
      system: "linux",
      loadBefore,
      deno: "2",
      postgres: "18",
      fsync: "on",
      synchronousCommit: "on",
      fullPageWrites: "on",
      sharedBuffers: "128MB",
      flushMs: 1,
    },
    generator: "wrk",
    stolen,
    options: {
      sections: ["scan"],
      rounds: scans.length,
      seconds: 4,
      connections: [],
      pools: [],
      ownLoad: false,
      database: null,
      postgres: [],
      folder: null,
      sizes: [],
      merchants: [],
      fillOnly: false,
    },
    pools: {},
    measurements: [],
    bulk: [],
    pages: [],
    lists: [],
    scans,
    callbacks: [],
    lives: [],
    evm: [],
    externals: [],
    overloads: [],
    growth: null,
    partitions: [],
  };
}

function scan(round: number, stolen: number | null): ScanMeasurement {
  return {
    case: "scan_small",
    round,
    blocksPerSecond: 300,
    depositsPerSecond: 0,
    readerUs: 2_000,
    databaseUs: 500,
    memoryMb: 120,
    stolen,
  };
}

/** The lines between those about the machine and those about the load. */
function head(results: Results): readonly string[] {
  const lines = report(results).split("\n");
  return lines.slice(2, lines.findIndex((line) => line.startsWith("Load:")));
}

const OTHERS = [
  "OTHERS USED THIS MACHINE WHEN THE BENCH BEGAN: figures of different rounds do not compare, and",
  "baselines that wait for locks suffer less than what needs the processor",
];
const HOST =
  "THE HOST GAVE THE CORES TO OTHERS AS WELL: absolute figures are lower than on cores of one's own";

Deno.test("the head tells what the host took", () => {
  assertEquals(head(run(0, 0)), ["The host took nothing of the cores' time while this ran"]);
  assertEquals(head(run(null, 0)), ["How much of the cores' time the host took is unknown"]);
  assertEquals(head(run(0.05, 0)), ["The host took 5 % of the cores' time while this ran"]);
});

Deno.test("a run from which the host took much carries a warning", () => {
  const took = "The host took 43 % of the cores' time while this ran";
  assertEquals(head(run(0.43, 0)), [took, HOST]);
  assertEquals(head(run(0.43, 2)), [took, ...OTHERS, HOST]);
});

Deno.test("one measurement from which the host took much is enough for the warning", () => {
  assertEquals(head(run(0.04, 0, [scan(1, 0.01), scan(2, 0.51)])), [
    "The host took 4 % of the cores' time while this ran (most in one measurement of blocks: 51 %)",
    HOST,
  ]);
});

Deno.test("each row of the scan table has the median of what the host took", () => {
  const cell = (...shares: (number | null)[]) => {
    const lines = report(run(0, 0, shares.map((share, n) => scan(n + 1, share)))).split("\n");
    const at = lines.findIndex((line) => line.endsWith("  stolen"));
    assert(at >= 0);
    assertEquals(lines[at]?.length, lines[at + 1]?.length);
    return lines[at + 1]?.slice(-8).trim();
  };
  assertEquals(cell(0.01, 0.43, 0.51), "43 %");
  assertEquals(cell(0, 0, 0.51), "0 %");
  assertEquals(cell(null), "-");
});
