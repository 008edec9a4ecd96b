/**
 * Kinds of variables: what their text has to be, and the value it stands for.
 *
 * @module
 */

import { z } from "zod";
import { parseDatabaseUrl } from "../../ledger/database/database_url.ts";
import { Secret } from "./secret.ts";

const MINIMUM_SECRET = 32;

/** Variables of an environment as they are given. */
export type Given = Readonly<Record<string, string | undefined>>;

/** A PostgreSQL database, with one host or several. */
export const databaseUrl = z.string().superRefine((text, context) => {
  const parsed = parseDatabaseUrl(text);
  if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.fault });
}).transform((text) => new Secret(text));

/** A whole number within bounds. */
export const wholeNumber = (least: number, most: number) => {
  const message = `is not a whole number from ${least} to ${most}`;
  return z.string().regex(/^\d{1,9}$/, message).transform((text) => parseInt(text, 10))
    .refine((number) => number >= least && number <= most, message);
};

/** A URL of one of the schemes. */
export const urlOf = (...schemes: readonly string[]) => {
  const message = `is not a URL of the form ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`;
  return z.string().refine((text) => schemes.includes(URL.parse(text)?.protocol ?? ""), message);
};

/** The URL of a node. */
export const nodeUrl = urlOf("http:", "https:").refine(
  (text) => !URL.parse(text)?.hash,
  "has a fragment (#), which is sent to no node",
);

/** A text of 32 characters or more that must not be printed. */
export const secret = z.string().min(
  MINIMUM_SECRET,
  `is shorter than ${MINIMUM_SECRET} characters`,
).transform((text) => new Secret(text));

/** Several such texts, separated by commas. */
export const secrets = listOf(
  z.string().min(MINIMUM_SECRET, `has a key shorter than ${MINIMUM_SECRET} characters`),
).transform((keys) => keys.map((key) => new Secret(key)));

/** Items separated by commas. */
export function listOf<Item extends z.ZodType<string, string>>(item: Item) {
  return z.string().transform(partsOf).pipe(z.array(item));
}

/** The parts of a list. */
export function partsOf(list: string): string[] {
  return list.split(",").map((part) => part.trim()).filter(Boolean);
}

/** One of some words. */
export function oneOf<const Words extends readonly [string, string, ...string[]]>(...words: Words) {
  const [first, second] = words;
  const error = words.length === 2
    ? `is neither ${first} nor ${second}`
    : `is none of ${words.join(", ")}`;
  return z.enum(words, { error });
}

/** A base URL without slashes at its end. */
export function trimmed(url: string): string {
  return url.replace(/\/+$/, "");
}
