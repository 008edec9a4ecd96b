/** Runtime code of the contracts of the development chain, compiled from their sources. @module */

import { fileURLToPath } from "node:url";
import { z } from "zod";

const SOURCE = fileURLToPath(
  new URL("../../../devchain/evm/contracts/Tokens.sol", import.meta.url),
);

const Output = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).default([]),
  contracts: z.object({
    "Tokens.sol": z.record(
      z.string(),
      z.object({
        evm: z.object({ deployedBytecode: z.object({ object: z.string() }) }),
        storageLayout: z.object({
          storage: z.array(z.object({ label: z.string(), slot: z.string(), offset: z.number() })),
        }),
      }),
    ),
  }),
});

/** One contract: its code, and where its variables are. */
export interface Compiled {
  readonly code: string;
  /** `slot:offset` by the variable's name. */
  readonly layout: Readonly<Record<string, string>>;
}

/** Compiles the sources. @throws {Error} with the compiler's words */
export async function compileContracts(): Promise<Readonly<Record<string, Compiled>>> {
  // it is loaded late, so that a test that may not read is skipped before it
  const { default: solc } = await import("solc");
  const input = {
    language: "Solidity",
    sources: { "Tokens.sol": { content: await Deno.readTextFile(SOURCE) } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: "shanghai",
      metadata: { appendCBOR: false, bytecodeHash: "none" },
      outputSelection: { "*": { "*": ["evm.deployedBytecode.object", "storageLayout"] } },
    },
  };
  const output = Output.parse(JSON.parse(solc.compile(JSON.stringify(input))));
  const faults = output.errors.filter(({ severity }) => severity === "error");
  if (faults.length > 0) throw new Error(faults.map((one) => one.formattedMessage).join("\n"));
  return Object.fromEntries(
    Object.entries(output.contracts["Tokens.sol"]).map(([name, { evm, storageLayout }]) => [name, {
      code: `0x${evm.deployedBytecode.object}`,
      layout: Object.fromEntries(
        storageLayout.storage.map(({ label, slot, offset }) => [label, `${slot}:${offset}`]),
      ),
    }]),
  );
}
