/**
 * Commands that are declared as verbs: a verb has one line of usage, from which its arguments and
 * options are read, one line of help, and a function whose result is printed.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { tracedCommandFault } from "../config/traces.ts";
import { record, table, type TableRow } from "./table.ts";

/** Prints lines. */
export type Output = Pick<Console, "log" | "error">;

/** Variables of the environment. */
export type Env = Readonly<Record<string, string>>;

/** A command is not carried out; the message is for the operator. */
export class Refused extends Error {
  /** @param code the exit code: 1 refused, 2 not understood */
  constructor(message: string, readonly code: 1 | 2 = 1) {
    super(message);
  }
}

/** Options as they were typed; a switch that is given has the text `on`. */
export type Options = Readonly<Record<string, string | undefined>>;

/** Something to print: text, a record, or rows of a table; a number is the exit code, after what was printed. */
export type Result = string | TableRow | readonly TableRow[] | number;

/** A verb of a command line. */
export interface Verb<Context> {
  /**
   * The line as it is typed: words, `<argument>`, `[<argument>]` that may be left out, and options
   * `[--name VALUE]` or `[--switch]`; for example `keys rotate <key-id> [--overlap-hours 24]`. What
   * follows the words of one with `[<text>...]` alone is that text, whatever it begins with.
   */
  readonly usage: string;
  readonly help: string;
  readonly run: (
    context: Context,
    args: readonly string[],
    options: Options,
  ) => Promise<Result> | Result;
}

/** A program: its verbs and the text around them. */
export interface Program<Context> {
  /** Line above the verbs. */
  readonly title: string;
  readonly verbs: readonly Verb<Context>[];
  /** Lines below the verbs. */
  readonly notes: string;
  /** True where a line that is not understood must not be repeated: it may hold a secret. */
  readonly hidesInput?: boolean;
  /** True where one word alone stands for its list: `pairs` for `pairs list`. */
  readonly listsByNoun?: boolean;
  /** Exit code where the database or a file cannot be used; 1 where it is left out. */
  readonly faultCode?: 1 | 2;
}

/** Width of the column of usages. */
const COLUMN = 42;

const OPTION = /\[?--([a-z-]+)(?: ([^\s\]]+))?\]?/g;

/** The words, arguments and options of a usage. */
function parts(usage: string) {
  const options = [...usage.matchAll(OPTION)].map(([, name = "", value]) =>
    [name, { type: value === undefined ? "boolean" : "string" }] as const
  );
  const tokens = usage.replaceAll(OPTION, "").split(" ").filter(Boolean);
  const words = tokens.filter((token) => !/[<[]/.test(token));
  const args = tokens.filter((token) => /[<[]/.test(token));
  return { words, args, options };
}

/** One line for a verb; two where its usage fills the column. */
function usageLine({ usage, help }: Pick<Verb<never>, "usage" | "help">): string {
  const shown = usage === "" ? "(none)" : usage;
  const column = shown.length < COLUMN ? shown.padEnd(COLUMN) : `${shown}\n${" ".repeat(44)}`;
  return `  ${column}${help}`;
}

/** The usage of a whole program. */
function usageOf(program: Program<never>): string {
  return `${program.title}\n\n${program.verbs.map(usageLine).join("\n")}\n\n${program.notes}`;
}

/** The verb of a command line and what follows it; null where there is none. */
function findVerb<Context>({ verbs, listsByNoun }: Program<Context>, line: readonly string[]) {
  const [noun, next] = line;
  // a verb without words takes options alone: a mistyped word is no argument of it
  const isBare = noun === undefined || noun.startsWith("-");
  const named = verbs.map((verb) => ({ verb, ...parts(verb.usage) }))
    .filter(({ words }) => words.length > 0 || isBare)
    .filter(({ words }) => words.every((word, index) => line[index] === word))
    .toSorted((a, b) => b.words.length - a.words.length)[0];
  if (named !== undefined) return { ...named, rest: line.slice(named.words.length) };
  if (!listsByNoun || (next !== undefined && !next.startsWith("-"))) return null;
  const verb = verbs.find(({ usage }) => {
    const { words, args } = parts(usage);
    return args.length === 0 && [`${noun} list`, `${noun} show`].includes(words.join(" "));
  });
  return verb === undefined ? null : { verb, ...parts(verb.usage), rest: line.slice(1) };
}

/**
 * Carries out one command line.
 *
 * @returns the exit code: 0 done, 1 refused, 2 not understood; where what it works with cannot be
 *   used, the program's own
 */
export async function runProgram<Context extends { readonly env: Env }>(
  program: Program<Context>,
  context: Context,
  line: readonly string[],
  out: Output,
): Promise<number> {
  const traced = tracedCommandFault(context.env);
  if (traced !== null) {
    out.error(traced);
    return 2;
  }
  try {
    const found = findVerb(program, line);
    if (found === null) throw new Refused(usageOf(program), 2);
    const { args, options } = parsed(program, found);
    const result = await found.verb.run(context, args, options);
    if (typeof result === "number") return result;
    out.log(shown(result));
    return 0;
  } catch (error) {
    if (error instanceof Refused) {
      out.error(error.message);
      return error.code;
    }
    const fault = outsideFault(error);
    if (fault === null) throw error;
    out.error(fault);
    return program.faultCode ?? 1;
  }
}

/**
 * A fault of what a command works with, in one line with what mends it; null for a bug, which is shown
 * with its stack.
 */
function outsideFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const reason = error.message.replaceAll(/\s+/g, " ").trim();
  if (error instanceof Deno.errors.PermissionDenied) {
    return `Cannot go on as this user may not: ${reason}. Run it as the user and with the variables of docs/operations.md`;
  }
  if (ONE_LINE_FAULTS.includes(error.name)) return reason;
  const code = "code" in error ? String(error.code) : "";
  if (!DATABASE_FAULTS.test(code)) return null;
  return `Cannot use the database: ${
    reason || code
  }. Look at DATABASE_URL, and whether its server runs: deno task admin doctor`;
}

/** Faults whose message says what mends them. */
const ONE_LINE_FAULTS = [
  "OtherEnvironment",
  "MigrationMismatch",
  "UnusableFolder",
  "WalletFault",
  "UnusableChain",
];

/** Codes of the client for connections, and SQLSTATEs: refused, connection, no such database, no right, not ready. */
const DATABASE_FAULTS =
  /^(ECONN\w+|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|CONNECT\w*|CONNECTION_\w+|28\w{3}|08\w{3}|3D000|42501|53300|57P\d\d|UNSAFE_SERVER)$/;

/** The arguments and options of a line. @throws {Refused} where they are not those of the verb */
function parsed<Context>(
  program: Program<Context>,
  found: NonNullable<ReturnType<typeof findVerb<Context>>>,
): { readonly args: readonly string[]; readonly options: Options } {
  const { verb, rest, args, options } = found;
  const [only = ""] = args;
  if (args.length === 1 && only.endsWith("...]") && options.length === 0) {
    return { args: rest, options: {} };
  }
  let given;
  try {
    given = parseArgs({
      args: [...rest],
      options: Object.fromEntries(options),
      allowPositionals: true,
    });
  } catch (error) {
    if (program.hidesInput) throw new Refused(usageOf(program), 2);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refused(`${reason}\n${usageLine(verb)}`, 2);
  }
  const least = args.filter((arg) => !arg.startsWith("[")).length;
  const most = args.length;
  const { positionals, values } = given;
  if (positionals.length < least || positionals.length > most) {
    throw new Refused(
      program.hidesInput ? usageOf(program) : `Expected: ${verb.usage}  ${verb.help}`,
      2,
    );
  }
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "string" ? value : "on",
  ]);
  return { args: positionals, options: Object.fromEntries(texts) };
}

/** A result as text. */
export function shown(result: Exclude<Result, number>): string {
  if (typeof result === "string") return result;
  return isRows(result) ? table(result) : record(result);
}

function isRows(result: TableRow | readonly TableRow[]): result is readonly TableRow[] {
  return Array.isArray(result);
}

/** A variable that a verb cannot do without. @throws {Refused} where it is missing */
export function need(env: Env, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new Refused(`Cannot go on as ${name} is missing`);
}

/** A whole number that was typed. @throws {Refused} where it is none within the bounds */
export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Refused(
    `Cannot use ${name} as it is not a whole number from ${least} to ${most}: ${text}`,
    2,
  );
}
