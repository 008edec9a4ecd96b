import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/**
 * Cells are tried beside each other, each lane on an engine and a chain of its own. All share one thread with
 * their chains: more lanes than these starve each other where other files run beside them, and nodes that
 * answer late then rest for longer than a cell waits.
 */
const LANES = { payments: 2, sweeps: 2 } as const;

test({
  name:
    "each fault at each step of a payment has its right end, visibly, and nothing happens twice",
  // steps run beside each other, which the sanitizers cannot tell apart
  sanitizeOps: false,
  sanitizeResources: false,
  sanitizeExit: false,
  fn: async (t) => {
    const { liveCells } = await import("./support/matrix_table.ts");
    const { tryCells } = await import("./support/run_matrix.ts");
    const { TRON_MATRIX } = await import("./support/tron_matrix_table.ts");
    const cells = liveCells(TRON_MATRIX);
    const ofSweeps = (isSweep: boolean) =>
      cells.filter(({ step }) => step.startsWith("sweep ") === isSweep);
    // elsewhere sweeps would only be in the way of what is looked at
    await tryCells(t, [
      { cells: ofSweeps(false), rig: { sweeps: false }, count: LANES.payments },
      { cells: ofSweeps(true), rig: { sweeps: true }, count: LANES.sweeps },
    ]);
  },
});
