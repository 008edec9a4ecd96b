import { needs } from "../support/permissions.ts";
import { chainConformance } from "./chain.ts";
import { evmHarness } from "./evm_harness.ts";
import type { Kind } from "./harness.ts";

/** Common to every such network. */
const KIND: Kind = {
  life: "nonce",
  skips: false,
  sweeps: "one by one",
  coin: ["10", "0.000001"],
};

const ignore = needs({ net: true, read: true, write: true, env: true, run: true }) ||
  Deno.build.os !== "linux" || Deno.build.arch !== "x86_64";

for (const network of ["ETH", "BNB"] as const) {
  chainConformance(`EVM adapter, ${network}`, () => evmHarness(network), KIND, { ignore });
}
// the sender of sweeps is the only difference
chainConformance(
  "EVM adapter, ETH with a delegate",
  () => evmHarness("ETH", "delegate"),
  { ...KIND, sweeps: "together" },
  { ignore },
  ["sweeps"],
);
