import { assertEquals } from "@std/assert";
import { metFaults } from "./restore.ts";

Deno.test("drill restore: one in which nothing was lost, repeated, matched or booked has failed", () => {
  const met = (copied: number, repeated: number, others: number) => ({
    "withdrawals that the copy has": copied,
    "lost ones that were paid, and asked for again": repeated,
    "lost ones that were paid, and not asked for again": others,
  });
  assertEquals(metFaults(met(9, 3, 2), { match: 3, book: 2 }), []);
  assertEquals(metFaults(met(9, 3, 2), { match: 4, book: 2 }), []);
  for (
    const [counts, verdicts, faults] of [
      [met(0, 0, 0), { match: 0, book: 0 }, 3],
      [met(9, 0, 2), { match: 0, book: 2 }, 1],
      [met(9, 3, 0), { match: 3, book: 0 }, 1],
      [met(9, 3, 2), { match: 2, book: 2 }, 1],
      [met(9, 3, 2), { match: 3, book: 1 }, 1],
      [met(9, 3, 2), { match: 3, book: 3 }, 1],
    ] as const
  ) {
    assertEquals(metFaults(counts, verdicts).length, faults);
  }
});
