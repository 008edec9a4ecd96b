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
/** Sweeps that the hot wallet sends itself: what a contract refuses there is tried by tests/sweeps/evm_delegate_test.ts. */
const BY_DELEGATE = {
  steps: ["sweep plan", "sweep broadcast", "sweep solid"],
  kinds: [
    "error-500",
    "timeout late",
    "receipts-short",
    "lost-broadcast",
    "silent-accept",
    "nonce-too-low",
    "nonce-too-low forget",
    "reorganisation",
    "reorganisation drop",
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
    const { BNB_RIG, ETH_DELEGATE_RIG, ETH_RIG } = await import("./support/rig_evm.ts");
    const { tryCells } = await import("./support/run_matrix.ts");
    const all = liveCells(EVM_MATRIX);
    const isSweep = ({ step }: { readonly step: string }) => step.startsWith("sweep ");
    const isDry = ({ kind }: { readonly kind: string }) => kind === "no coin";
    const among = (
      some: { readonly steps: readonly string[]; readonly kinds: readonly string[] },
    ) => all.filter(({ step, kind }) => some.steps.includes(step) && some.kinds.includes(kind));
    const cells = all.filter((cell) => !isSweep(cell));
    const eth = { sweeps: false, family: ETH_RIG };
    const delegate = { sweeps: true, family: ETH_DELEGATE_RIG };
    await tryCells(t, [
      { cells: cells.filter((cell) => !isDry(cell)), rig: eth, count: LANES },
      { cells: cells.filter(isDry), rig: { ...eth, hasCoin: false }, count: 1 },
      { cells: among(WITHOUT_HEAD), rig: { sweeps: false, family: BNB_RIG }, count: 1 },
    ]);
    // as many again beside those would have nodes answer late
    await tryCells(t, [
      { cells: all.filter(isSweep), rig: { sweeps: true, family: ETH_RIG }, count: LANES },
      { cells: among(BY_DELEGATE), rig: delegate, count: 1 },
    ]);
  },
});
