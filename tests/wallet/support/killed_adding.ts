/**
 * Adds a network to a wallet, in a process that kills itself at one of its steps on the disk:
 * `killed_adding.ts <wallet-file> <passphrase> <network> <step> <before|after>`.
 *
 * @module
 */

import { addNetworks } from "../../../chains/wallet/add_networks.ts";
import type { Network } from "../../../ledger/money/pair.ts";

const [file = "", passphrase = "", network = "", step = "0", side = ""] = Deno.args;
let passed = 0;

/** Makes a step of the disk one that may be the last of this process. */
function deadly<A extends unknown[], R>(act: (...of: A) => Promise<R>): (...of: A) => Promise<R> {
  return async function (this: unknown, ...of: A): Promise<R> {
    const isLast = ++passed === Number(step);
    if (isLast && side === "before") Deno.kill(Deno.pid, "SIGKILL");
    const answer = await act.apply(this, of);
    if (isLast) Deno.kill(Deno.pid, "SIGKILL");
    return answer;
  };
}

Deno.chown = deadly(Deno.chown);
Deno.FsFile.prototype.sync = deadly(Deno.FsFile.prototype.sync);
Deno.link = deadly(Deno.link);
Deno.rename = deadly(Deno.rename);

await addNetworks({ file, passphrase, networks: [network as Network] });
