import { assertEquals } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import type { LiveCell } from "./support/matrix_table.ts";

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
    const { booksFaults } = await import("../support/books.ts");
    const { tryCell } = await import("./support/matrix_cells.ts");
    const { openRig } = await import("./support/matrix_rig.ts");
    const { liveCells } = await import("./support/matrix_table.ts");
    const isSweep = ({ step }: LiveCell) => step.startsWith("sweep ");
    const [sweeps, payments] = [
      liveCells().filter(isSweep),
      liveCells().filter((cell) => !isSweep(cell)),
    ];
    // elsewhere sweeps would only be in the way of what is looked at
    const lane = async (cells: LiveCell[]) => {
      await using rig = await openRig({ sweeps: cells === sweeps });
      for (let cell = cells.shift(); cell !== undefined; cell = cells.shift()) {
        const { step, kind, end } = cell;
        await t.step({
          name: `${step}: ${kind}: ${end}`,
          fn: () => tryCell(rig, { step, kind, end }),
          sanitizeOps: false,
          sanitizeResources: false,
          sanitizeExit: false,
        });
        await rig.setFaults([]);
      }
      assertEquals(await booksFaults(rig.sql), []);
    };
    const lanes = await Promise.allSettled([
      ...Array.from({ length: LANES.payments }, () => lane(payments)),
      ...Array.from({ length: LANES.sweeps }, () => lane(sweeps)),
    ]);
    for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
  },
});
