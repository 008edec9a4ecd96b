/**
 * Lets a suite that lacks permissions report itself as skipped, with the reason, so that plain
 * `deno test` works as well.
 *
 * @module
 */

/** The permissions that a suite needs. */
export interface Needs {
  readonly net?: true;
  readonly run?: true;
  readonly read?: true;
  readonly write?: true;
  readonly env?: true;
  readonly sys?: true;
}

/**
 * True when a suite has to be skipped: `Deno.test({ ignore: needs({ net: true }), ... })`.
 * Modules that use the permissions while they load must be imported inside the tests.
 *
 * @param wanted what the suite needs, each without restriction
 * @returns true when something is not granted; the reason is printed once per file
 */
export function needs(wanted: Needs): boolean {
  const missing = Object.keys(wanted).filter((name) => !isGranted(name as keyof Needs));
  if (missing.length === 0) return false;
  // deno-lint-ignore no-console -- the reason belongs in the test run's output
  console.log(
    `skipped as permissions are missing: ${missing.map((name) => `--allow-${name}`).join(" ")}`,
  );
  return true;
}

function isGranted(name: keyof Needs): boolean {
  return Deno.permissions.querySync({ name }).state === "granted";
}

/** Permissions of tests with a database: `testDatabase`, `privateCluster`. */
export const DATABASE: Needs = {
  net: true,
  read: true,
  write: true,
  run: true,
  env: true,
  sys: true,
};

/**
 * `Deno.test` for a file whose tests all need permissions:
 * `const test = testNeeding(DATABASE); test("a rule", async () => { ... });`
 *
 * @returns `Deno.test`, or `Deno.test.ignore` where something is missing
 */
export function testNeeding(wanted: Needs): typeof Deno.test.ignore {
  return needs(wanted) ? Deno.test.ignore : Deno.test;
}
