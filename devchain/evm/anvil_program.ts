import { fileURLToPath } from "node:url";

/**
 * Places of the program that ends an anvil which an earlier owner started: a process that may not run every program may signal
 * no process but those that it has started itself.
 */
export const KILL_PROGRAMS: readonly string[] = ["/usr/bin/kill", "/bin/kill"];

/** The place of anvil's program, or the reason for which there is none, for people. */
export function anvilProgram(): { readonly path: string } | { readonly missing: string } {
  const { os, arch } = Deno.build;
  if (os !== "linux" || arch !== "x86_64") {
    return {
      missing:
        `Cannot start this development chain as there is no anvil for this platform: ${os} ${arch}; ` +
        "name a node of the network by <NETWORK>_NODE_URLS",
    };
  }
  try {
    const program = import.meta.resolve("@foundry-rs/anvil-linux-amd64/bin/anvil");
    return { path: fileURLToPath(program) };
  } catch (error) {
    return { missing: `Cannot start this development chain as anvil is not installed: ${error}` };
  }
}
