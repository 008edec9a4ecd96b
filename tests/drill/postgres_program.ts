import type { TestServer } from "../support/debian_postgres.ts";

/** Paths where PostgreSQL's programs, and what they start, are looked for. */
const PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Runs one of PostgreSQL's own programs with nothing of the caller's environment: a `PGHOST`, `PGSERVICE` or
 * `PGOPTIONS` that the operator has set would send it to another server, or have it work otherwise there.
 *
 * @param env what it needs besides, for example a password, which is not on the command line
 * @returns what it printed
 * @throws {Error} with what it complained of, where it did not succeed
 */
export async function runPostgresProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { LC_ALL: "C", PATH, ...env },
  }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`Cannot go on: ${program}: ${new TextDecoder().decode(stderr)}`);
}

/** A database for PostgreSQL's own programs: its password is not on their command line. */
export function programAddress({ url: full }: Pick<TestServer, "url">) {
  const url = new URL(full);
  const env = { PGPASSWORD: decodeURIComponent(url.password) };
  url.password = "";
  return { url: url.href, env };
}
