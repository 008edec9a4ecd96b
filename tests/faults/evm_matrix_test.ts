import { needs } from "../support/permissions.ts";

/** Tried on BNB Smart Chain as well, where nothing is seen before it is solid and tokens have 18 decimals. */
const WITHOUT_HEAD = {
  steps: ["deposit solid", "payout broadcast", "payout solid"],
  kinds: [
    "error-500",
    "receipts-null",
    "receipts-short",
    "log-missing",
    "receipts-of-another",
    "lost-broadcast",
    "nonce-too-low forget",
    "evicted",
    "revert",
    "out-of-gas",
  ],
} as const;
/** Cells are tried beside each other, each lane on an engine and a chain of its own. */
const LANES = 3;

Deno.test({
  name:
    "on chains that count nonces each fault at each step has its right end, visibly, and nothing happens twice",
  ignore: needs({ net: true, read: true, write: true, env: true, run: true }) ||
    Deno.build.os !== "linux" || Deno.build.arch !== "x86_64",
  // steps run beside each other, which the sanitizers cannot tell apart
  sanitizeOps: false,
  sanitizeResources: false,
  sanitizeExit: false,
  fn: async (t) => {
    const { EVM_MATRIX } = await import("./support/evm_matrix_table.ts");
    const { liveCells } = await import("./support/matrix_table.ts");
    const { BNB_RIG, ETH_RIG } = await import("./support/rig_evm.ts");
    const { tryCells } = await import("./support/run_matrix.ts");
    const cells = liveCells(EVM_MATRIX);
    const isDry = ({ kind }: { readonly kind: string }) => kind === "no coin";
    const steps: ReadonlySet<string> = new Set(WITHOUT_HEAD.steps);
    const kinds: ReadonlySet<string> = new Set(WITHOUT_HEAD.kinds);
    const withoutHead = cells.filter(({ step, kind }) => steps.has(step) && kinds.has(kind));
    const eth = { sweeps: false, family: ETH_RIG };
    await tryCells(t, [
      { cells: cells.filter((cell) => !isDry(cell)), rig: eth, count: LANES },
      { cells: cells.filter(isDry), rig: { ...eth, hasCoin: false }, count: 1 },
      { cells: withoutHead, rig: { sweeps: false, family: BNB_RIG }, count: 1 },
    ]);
  },
});
