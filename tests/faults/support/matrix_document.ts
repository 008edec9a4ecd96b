/**
 * Prints the fault matrix as a page:
 * `deno run tests/faults/support/matrix_document.ts > docs/fault-matrix.md`.
 *
 * @module
 */

import { type Cell, type Kind, KINDS, MATRIX, type Step, type StepRow } from "./matrix_table.ts";

const PAYMENTS = ["deposit", "payout", "sweep"] as const;

/** The page, made of what the tests try. */
export function matrixDocument(): string {
  const kinds = Object.keys(KINDS) as Kind[];
  const sections = PAYMENTS.map((payment) => {
    const steps = (Object.keys(MATRIX) as Step[]).filter((step) => step.startsWith(payment));
    const named = steps.map((step): [string, StepRow] => [
      step.slice(payment.length + 1),
      MATRIX[step],
    ]);
    return [
      `## ${payment[0]?.toUpperCase()}${payment.slice(1)}`,
      "",
      "| Step | What happens | What waits is seen in |",
      "|---|---|---|",
      ...named.map(([name, { text, visible }]) => `| ${name} | ${text} | ${visible} |`),
      "",
      `| The node | ${named.map(([name]) => name).join(" | ")} |`,
      `|---|${"---|".repeat(named.length)}`,
      ...kinds.map((kind) =>
        `| ${KINDS[kind].text} | ${named.map(([, { cells }]) => shown(cells[kind])).join(" | ")} |`
      ),
    ].join("\n");
  });
  return [
    "# Every fault of a node at every step",
    "",
    "Each cell is tried by `tests/faults/matrix_test.ts`: the fault lasts until what waits is seen, then",
    "it ends; the payment must come to the end that is written here, once, with exact balances, its events",
    "and nothing left over. This page is made of the same table. An end in brackets cannot be tried, for the",
    "reason it gives. Deaths of the service at each step are tried by `tests/faults/crash_test.ts`.",
    "",
    sections.join("\n\n"),
    "",
  ].join("\n");
}

function shown(cell: Cell): string {
  return cell.startsWith("- ") ? `(${cell.slice(2)})` : cell;
}

// deno-lint-ignore no-console -- the page is what it prints
if (import.meta.main) console.log(matrixDocument().trimEnd());
