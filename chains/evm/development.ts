/**
 * Development chains of EVM networks.
 *
 * @module
 */

import { type Development, DevelopmentMissing } from "../family.ts";

/** See {@linkcode Development}. */
export const EVM_DEVELOPMENT: Development = {
  async start(options) {
    const { startEvmDevChain } = await import("../../devchain/evm/start.ts");
    return await startEvmDevChain(options);
  },
  async program() {
    const { anvilProgram, KILL_PROGRAMS } = await import("../../devchain/evm/anvil_program.ts");
    const program = anvilProgram();
    if ("missing" in program) throw new DevelopmentMissing(program.missing);
    return { path: program.path, enders: KILL_PROGRAMS, files: [program.path] };
  },
};
