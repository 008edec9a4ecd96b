/** What the wallet's command does not do, told to the person who asked. */
export class Refused extends Error {}

/**
 * A variable that a verb cannot do without.
 *
 * @throws {Refused} when it is missing
 */
export function need(env: Readonly<Record<string, string>>, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new Refused(`Cannot go on as ${name} is missing`);
}
