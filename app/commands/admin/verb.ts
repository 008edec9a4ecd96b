import type { ParseArgsConfig } from "node:util";
import type { Client } from "./client.ts";

/** Options of a verb as they were given. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** What a verb of the command line does. */
export interface Verb {
  /** As it is typed, for example `merchants list`. */
  readonly name: string;
  /** Positional arguments, by name, all required. */
  readonly args: readonly string[];
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  readonly help: string;
  /** Answers what is printed. */
  readonly run: (client: Client, args: readonly string[], options: Options) => Promise<string>;
}

/** The fields whose options were given; a typing error is a fault of the command line. */
export function given(
  options: Options,
  fields: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, option]) => {
      const value = options[option];
      return typeof value === "string" ? [[field, value]] : [];
    }),
  );
}
