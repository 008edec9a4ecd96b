/** Two chains with one past. @module */

import { chainFolder } from "../../../devchain/options.ts";
import { type TestChain, withChain } from "../../dev_chain/support/chain.ts";

/** Blocks that both have. */
export const COMMON_BLOCKS = 10;

/**
 * Runs a test against a chain and a fork of it: the same first block, the same past, and from there
 * on each with blocks of its own.
 */
export async function withFork(
  work: (right: TestChain, fork: TestChain) => Promise<void>,
): Promise<void> {
  const [dataDir, copyDir] = await Promise.all([
    Deno.makeTempDir({ prefix: "dev-chain-" }),
    Deno.makeTempDir({ prefix: "dev-chain-" }),
  ]);
  try {
    await withChain((chain) => chain.mine(COMMON_BLOCKS), { dataDir });
    const [from, to] = [chainFolder(dataDir, "TRX"), chainFolder(copyDir, "TRX")];
    await Deno.mkdir(to, { mode: 0o700 });
    for await (const { name } of Deno.readDir(from)) {
      await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
    }
    await withChain(
      (right) => withChain((fork) => work(right, fork), { dataDir: copyDir }),
      { dataDir },
    );
  } finally {
    await Deno.remove(dataDir, { recursive: true });
    await Deno.remove(copyDir, { recursive: true });
  }
}
