import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Cells are tried beside each other, each lane on an engine and a chain of its own. */
const LANES = { payments: 4, sweeps: 4 } as const;

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
