/**
 * Prints the fault matrix of a kind of chains as a page:
 * `deno run tests/faults/support/matrix_document.ts > docs/fault-matrix.md`, and with `evm` as argument
 * `docs/fault-matrix-evm.md`.
 *
 * @module
 */

import { EVM_MATRIX } from "./evm_matrix_table.ts";
import { type Cell, isEnd, type MatrixTable } from "./matrix_table.ts";
import { TRON_MATRIX } from "./tron_matrix_table.ts";

const PAYMENTS = ["deposit", "payout", "sweep"] as const;

/** A page of the matrix. */
export interface MatrixPage {
  readonly path: string;
  readonly title: string;
  /** The file that tries its cells. */
  readonly triedBy: string;
  /** A sentence of its own, where it has one. */
  readonly besides?: string;
  readonly table: MatrixTable;
}

/** The pages there are. */
export const PAGES = {
  tron: {
    path: "docs/fault-matrix.md",
    title: "Every fault of a node at every step",
    triedBy: "tests/faults/matrix_test.ts",
    table: TRON_MATRIX,
  },
  evm: {
    path: "docs/fault-matrix-evm.md",
    title: "Every fault of an EVM node at every step",
    triedBy: "tests/faults/evm_matrix_test.ts",
    besides: "What needs no node is tried on TRON ([fault-matrix.md](fault-matrix.md)).",
    table: EVM_MATRIX,
  },
} as const satisfies Readonly<Record<string, MatrixPage>>;

/** A page, made of what the tests try. */
export function matrixDocument({ title, triedBy, besides, table }: MatrixPage): string {
  const sections = PAYMENTS.flatMap((payment) => {
    const named = [...table.steps].filter(([step]) => step.startsWith(payment))
      .map(([step, row]) => [step.slice(payment.length + 1), row] as const);
    if (named.length === 0) return [];
    return [[
      `## ${payment[0]?.toUpperCase()}${payment.slice(1)}`,
      "",
      "| Step | What happens | What waits is seen in |",
      "|---|---|---|",
      ...named.map(([name, { text, visible }]) => `| ${name} | ${text} | ${visible} |`),
      "",
      `| The node | ${named.map(([name]) => name).join(" | ")} |`,
      `|---|${"---|".repeat(named.length)}`,
      ...[...table.kinds].map(([kind, { text }]) =>
        `| ${text} | ${
          named.map(([, { cells }]) => shown(cells[kind] ?? "- no cell")).join(" | ")
        } |`
      ),
    ].join("\n")];
  });
  return [
    `# ${title}`,
    "",
    `Each cell is tried by \`${triedBy}\`: the fault lasts until what waits is seen, then`,
    "it ends; the payment must come to the end that is written here, once, with exact balances, its events",
    "and nothing left over. This page is made of the same table. An end in brackets cannot be tried, for the",
    "reason it gives. Deaths of the service at each step are tried by `tests/faults/crash_test.ts`.",
    ...(besides === undefined ? [] : [besides]),
    "",
    sections.join("\n\n"),
    "",
  ].join("\n");
}

function shown(cell: Cell): string {
  return isEnd(cell) ? cell : `(${cell.slice(2)})`;
}

if (import.meta.main) {
  const page = Deno.args[0] === "evm" ? PAGES.evm : PAGES.tron;
  // deno-lint-ignore no-console -- the page is what it prints
  console.log(matrixDocument(page).trimEnd());
}
