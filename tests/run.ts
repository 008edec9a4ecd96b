/**
 * Runs the tests, many files in one module and the longest ones first:
 *
 *     deno task test [--no-check] [folder or file ...]
 *
 * What a file imports costs more than most of its tests, and is loaded anew for every module that
 * `deno test` is given. Files of a folder in {@linkcode TOGETHER} are therefore imported by a few entries,
 * which tell a test that fails by its own file. Files wait for timers, disks and processes as well, so
 * that twice as many entries run at the same time as there are cores; `DENO_JOBS` says another number.
 * Types are checked before them, as `deno check` does and remembers it.
 *
 * Files that need no permission are run without any, in a process of their own after the others: that
 * plain `deno test` works for them is shown by the same run.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { basename, dirname, join } from "node:path";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Folders of many files that share their imports, with how many of these become one entry. */
const TOGETHER: Readonly<Record<string, number>> = {
  actors: 8,
  api: 13,
  bench: 6,
  client: 5,
  commands: 5,
  contract: 16,
  decisions: 20,
  dev_chain: 10,
  dev_chain_evm: 6,
  faults: 6,
  journal: 10,
  observability: 6,
  properties: 8,
  rates: 10,
  reconcile: 6,
  repo: 5,
  setup: 9,
  signer: 12,
  sweeps: 7,
  treasury: 9,
  tron: 20,
  unit: 20,
  wallet: 7,
  watcher: 11,
  webhooks: 12,
};

/** Files that take the longest: one of them that starts last would be waited for alone. */
export const LONGEST: readonly string[] = [
  "tests/faults/evm_matrix_test.ts",
  "tests/faults/matrix_test.ts",
  "tests/browser/hosted_page_test.ts",
  "tests/commands/rehearsal_test.ts",
  "tests/sweeps/evm_coin_test.ts",
  "tests/faults/evm_crash_test.ts",
  "tests/signer/process_test.ts",
  "tests/faults/lifecycle_test.ts",
  "tests/evm/service_test.ts",
  "tests/drill/drill_test.ts",
  "tests/observability/night_test.ts",
  "tests/sweeps/evm_delegate_test.ts",
  "tests/client/shop_test.ts",
  "tests/evm/idle_calls_test.ts",
  "tests/dev_chain_evm/restart_test.ts",
  "tests/faults/webhooks_test.ts",
  "tests/observability/traces_test.ts",
  "tests/setup/embedded_postgres_test.ts",
  "tests/faults/killed_test.ts",
  "tests/contract/events_test.ts",
  "tests/sweeps/failures_test.ts",
  "tests/sweeps/sweeps_test.ts",
  "tests/faults/database_test.ts",
  "tests/faults/chaos_test.ts",
  "tests/repo/no_permissions_test.ts",
];

/** Ending of the file that an entry writes when all of its files were loaded. */
const LOADED = ".loaded";

/**
 * Begins an entry: a file that never asks for `Deno.test` while it loads declares no test, and would
 * pass for good. Asking is counted, not calling, so that a test still tells where it was declared.
 */
const COUNTING = `
const { test } = Deno;
let asked = 0;
Object.defineProperty(Deno, "test", { get: () => (asked++, test) });
const declaring = async (file, load) => {
  const before = asked;
  await load();
  if (asked === before) throw new Error(file + " declares no test");
};
`;

/** Test files at a path and below it, from the repository's root. */
async function testFiles(path: string): Promise<string[]> {
  if (/_test\.tsx?$/.test(path)) return [path];
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(ROOT, path))) {
    if (name === "output") continue;
    if (isDirectory || /_test\.tsx?$/.test(name)) found.push(...await testFiles(`${path}/${name}`));
  }
  return found;
}

/** Module that lets tests skip themselves where a permission is missing. */
const ASKS = "tests/support/permissions.ts";
const IMPORTED = /(?:\bfrom|\bimport\(?)\s*"(\.[^"]+)"/g;

/**
 * Those of some test files that ask for no permission, neither themselves nor by what they import of the
 * tests: they are to pass without any.
 */
export async function needingNothing(files: readonly string[]): Promise<readonly string[]> {
  const imports = new Map<string, Promise<readonly string[]>>();
  const importsOf = async (path: string) => {
    const text = await Deno.readTextFile(join(ROOT, path));
    return [...text.matchAll(IMPORTED)].map(([, target = ""]) => join(dirname(path), target))
      // texts that tests write into files look like imports as well
      .filter((target) => /^tests\/.*\.tsx?$/.test(target) && existsSync(join(ROOT, target)));
  };
  const asks = async (file: string) => {
    const reached = new Set([file]);
    for (const path of reached) {
      const known = imports.get(path) ?? importsOf(path);
      imports.set(path, known);
      for (const target of await known) reached.add(target);
    }
    return reached.has(ASKS);
  };
  const asking = await Promise.all(files.map(asks));
  return files.filter((_, i) => asking[i] === false);
}

/** Shares files out among entries, in the order in which these are to start. */
export function entriesOf(files: readonly string[]): readonly (readonly string[])[] {
  const folders = Map.groupBy(
    files.filter((file) => !LONGEST.includes(file)).toSorted(),
    (file) => file.split("/")[1] ?? "",
  );
  const shared = [...folders].flatMap(([folder, inFolder]) => {
    const count = Math.ceil(inFolder.length / (TOGETHER[folder] ?? 1));
    // neighbours by name are often alike in what they take
    return Array.from({ length: count }, (_, i) => inFolder.filter((_, n) => n % count === i));
  });
  return [...LONGEST.filter((file) => files.includes(file)).map((file) => [file]), ...shared];
}

/** Writes the entries into a folder: `012_api.ts`, by the order in which they start. */
async function writeEntries(folder: string, entries: Entries) {
  await Deno.mkdir(folder);
  const names: string[] = [];
  for (const [i, files] of entries.entries()) {
    const name = files.length === 1
      ? (files[0] ?? "").replace(/^tests\//, "").replace(/\.tsx?$/, "")
      : `${files[0]?.split("/")[1]}_${files.length}_files`;
    const path = join(folder, `${String(i).padStart(3, "0")}_${name.replaceAll("/", "_")}.ts`);
    const text = [COUNTING];
    for (const file of files) {
      const url = JSON.stringify(`file://${join(ROOT, file)}`);
      text.push(`await declaring(${JSON.stringify(file)}, () => import(${url}));\n`);
    }
    // said after all imports: a file that ends its module at import would hide the others
    text.push(`Deno.writeTextFileSync(${JSON.stringify(path + LOADED)}, "");\n`);
    await Deno.writeTextFile(path, text.join(""));
    names.push(path);
  }
  return names;
}

async function run(args: readonly string[]): Promise<number> {
  const isPath = (arg: string) => /^(\.\/)?tests(\/|$)/.test(arg);
  const paths = args.filter(isPath).map((path) => path.replace(/^\.\//, "").replace(/\/$/, ""));
  const found = await Promise.all((paths.length === 0 ? ["tests"] : paths).map(testFiles));
  const files = [...new Set(found.flat())];
  const plain = await needingNothing(files);
  const options = args.filter((arg) => !isPath(arg) && arg !== "--no-check");
  const folder = await Deno.makeTempDir({ prefix: "engine-tests-" });
  try {
    if (!args.includes("--no-check") && !await typesFit()) return 1;
    const others = entriesOf(files.filter((file) => !plain.includes(file)));
    const code = await runAllowed(`${folder}/all`, others, options);
    // afterwards: beside those that take the longest it would be one more on each core than they have room for
    return Math.max(code, await runPlain(`${folder}/plain`, entriesOf(plain), options));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

type Entries = readonly (readonly string[])[];

/** Runs entries with all permissions, and tells what they print as it comes. */
async function runAllowed(folder: string, entries: Entries, options: readonly string[]) {
  if (entries.length === 0) return 0;
  const names = await writeEntries(folder, entries);
  const { status } = startTests(["--allow-all", ...options, ...names], {
    DENO_JOBS: Deno.env.get("DENO_JOBS") ?? String(2 * navigator.hardwareConcurrency),
  }, "inherit");
  return await verdict(await status, names);
}

/** Runs entries without permissions, one after the other, and tells in the end what they have printed. */
async function runPlain(folder: string, entries: Entries, options: readonly string[]) {
  if (entries.length === 0) return 0;
  const names = await writeEntries(folder, entries);
  // all that they may do is to say that they were loaded
  const tests = startTests(
    [`--allow-write=${folder}`, ...options, ...names],
    { DENO_JOBS: "1" },
    "piped",
  );
  const { code, stdout, stderr } = await tests.output();
  await Deno.stdout.write(stdout);
  await Deno.stderr.write(stderr);
  const said = new TextDecoder().decode(stdout);
  const ignored = /\| (\d+) ignored/.exec(said.slice(said.lastIndexOf("passed")))?.[1];
  if (ignored === undefined) return await verdict({ code }, names);
  // deno-lint-ignore no-console -- a command speaks on the terminal
  console.error(`${ignored} tests that need a permission were skipped: they ask ${ASKS} for it`);
  return 1;
}

/** Starts `deno test`, which ends before this process does and never goes on alone. */
function startTests(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  output: "inherit" | "piped",
): Deno.ChildProcess {
  const tests = new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "--parallel", "--no-prompt", "--no-check", "--config", join(ROOT, "deno.json")],
      ...args,
    ],
    cwd: ROOT,
    env,
    stdout: output,
    stderr: output,
  }).spawn();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => end(tests, signal));
  }
  return tests;
}

/** The code of `deno test`, and 1 where it passed without having loaded all files. */
async function verdict({ code }: { readonly code: number }, names: readonly string[]) {
  const hidden = code === 0 ? await notLoaded(names) : [];
  for (const entry of hidden) {
    // deno-lint-ignore no-console -- a command speaks on the terminal
    console.error(`Not all files of ${entry} were loaded: one of them ends its module at import`);
  }
  return hidden.length > 0 ? 1 : code;
}

/** Checks all types; `deno check` prints what is wrong. */
async function typesFit(): Promise<boolean> {
  // entries lie in a folder of a new name each time: a check of these would be remembered by no run
  const check = new Deno.Command(Deno.execPath(), { args: ["check", "--quiet"], cwd: ROOT });
  return (await check.spawn().status).success;
}

/** Entries that ended before their last file was loaded, which `deno test` takes for passed. */
async function notLoaded(entries: readonly string[]): Promise<readonly string[]> {
  const folder = dirname(entries[0] ?? "");
  const found = new Set((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name));
  return entries.map((entry) => basename(entry)).filter((name) => !found.has(name + LOADED));
}

function end(tests: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    tests.kill(signal);
  } catch (error) {
    // they have ended already: Ctrl-C reaches them as well
    if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
  }
}

if (import.meta.main) Deno.exit(await run(Deno.args));
