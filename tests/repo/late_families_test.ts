import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path/posix";
import { needs } from "../support/permissions.ts";
import { repositoryFiles } from "./source_file.ts";

/** Modules that a service of TRON alone starts: itself, and its workers. */
const STARTED = [
  "main.ts",
  "app/commands/signer_worker.ts",
  "app/commands/sender_worker.ts",
  "app/commands/dev_chain_worker.ts",
  "app/commands/signer/process.ts",
];
/** Packages and modules that only a network of EVM needs. */
const LATE = ["viem", "hash-wasm", "chains/evm/evm_chain.ts", "devchain/evm/start.ts"];
/** Imports of a value that are carried out when a module is loaded; not those of types, and not `import()`. */
const LOADED =
  /^\s*import\s*"([^"]+)"|^\s*(?:import|export)\s(?!type\b)[^"'`()=;]*\bfrom\s*"([^"]+)"/gm;

/** Everything that is loaded with some modules, by each the one that asks for it. */
function loadedWith(
  entries: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string> {
  const found = new Map(entries.map((entry) => [entry, "the start"]));
  for (const path of found.keys()) {
    for (const target of imports.get(path) ?? []) {
      if (!found.has(target)) found.set(target, path);
    }
  }
  return found;
}

Deno.test({
  name: "a service of TRON alone loads nothing that only a network of EVM needs",
  ignore: needs({ read: true }),
  fn: async () => {
    const files = (await repositoryFiles()).filter(({ path }) => /\.tsx?$/.test(path));
    const imports = new Map(files.map(({ path, uncommented }) => [
      path,
      [...uncommented.matchAll(LOADED)].map(([, bare, named]) => bare ?? named ?? "")
        .map((name) => name.startsWith(".") ? join(dirname(path), name) : name.split("/")[0] ?? ""),
    ]));
    const loaded = loadedWith(STARTED, imports);
    assertEquals(
      LATE.flatMap((name) => loaded.has(name) ? [`${name} by ${loaded.get(name)}`] : []),
      [],
    );
    // the same search finds them where a network is opened
    const opened = loadedWith(["chains/evm/evm_chain.ts", "devchain/evm/start.ts"], imports);
    assertEquals(LATE.filter((name) => !opened.has(name)), []);
  },
});

Deno.test({
  name:
    "what is imported late is not read at the start either, in what runs, its workers and the commands",
  ignore: needs({ read: true }),
  fn: async () => {
    const { tasks }: { readonly tasks: Readonly<Record<string, string>> } = JSON.parse(
      await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
    );
    // without it the runtime resolves, reads and looks through all of them before the first line runs
    const started = [
      "start",
      "serve",
      "signer",
      "admin",
      "reconcile",
      "wallet",
      "verify",
      "dev-chain",
    ];
    const eager = started.filter((name) =>
      !/ --unstable-lazy-dynamic-imports .*\S+\.ts$/.test(tasks[name] ?? "")
    );
    assertEquals(eager, []);
  },
});
