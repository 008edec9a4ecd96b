import { assert, assertEquals, assertThrows } from "@std/assert";
import { default as fc } from "fast-check";
import { ChainUnavailable } from "../../chains/chain.ts";
import { FieldPicker, Objects } from "../../chains/nodes/field_picker.ts";

/** Fields that are read, as they are in a receipt: values, an object, and a list whose members are handed on. */
const NAMES = ["id", "fee", "receipt", "log", "data"] as const;
const READ = new Objects({
  id: "value",
  fee: "value",
  receipt: new Objects({ fee: "value", data: "value" }),
  log: new Objects({ id: "value", data: "value" }, "log"),
});
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The fields that are read of a text. */
interface Said {
  readonly rest: unknown;
  readonly logs: readonly unknown[];
}

/** A text read in pieces that end at some places. */
function inPieces(bytes: Uint8Array, cuts: readonly number[]): Said {
  const logs: unknown[] = [];
  const picker = new FieldPicker(READ, (_, json) => logs.push(json));
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    picker.push(bytes.subarray(at, cut));
    at = cut;
  }
  return { rest: JSON.parse(picker.end()), logs: logs.map(fewOfLog) };
}

/** The same; null where it is refused. */
function orRefused(bytes: Uint8Array, cuts: readonly number[]): Said | null {
  try {
    return inPieces(bytes, cuts);
  } catch (error) {
    assert(error instanceof ChainUnavailable && error.category === "malformed", String(error));
    return null;
  }
}

type Members = Readonly<Record<string, unknown>>;

function isObject(json: unknown): json is Members {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Some fields of an object, by how each is read. */
function few(json: Members, fields: Readonly<Record<string, (json: unknown) => unknown>>): Members {
  return Object.fromEntries(
    Object.entries(json).filter(([name]) => Object.hasOwn(fields, name)).map((
      [name, value],
    ) => [name, fields[name]?.(value)]),
  );
}

/** A value that is kept: a list's members that are objects or lists, and an object, count as nothing. */
function kept(json: unknown): unknown {
  if (Array.isArray(json)) return json.map((one) => typeof one === "object" ? null : one);
  return isObject(json) ? null : json;
}

/** An object that is read, or a list of them; null in the place of anything else. */
function inner(json: unknown): unknown {
  if (Array.isArray(json)) return json.map((one) => isObject(one) ? inner(one) : null);
  return isObject(json) ? few(json, { fee: kept, data: kept }) : null;
}

function fewOfLog(json: unknown): unknown {
  return isObject(json) ? few(json, { id: kept, data: kept }) : json;
}

/** The same of what JSON.parse has made of it. */
function asOne(json: unknown): Said {
  const logs: unknown[] = [];
  /** A list is handed on and leaves an empty one; an object in its place is read as one of them. */
  const log = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      logs.push(...value.map(fewOfLog));
      return [];
    }
    return isObject(value) ? fewOfLog(value) : null;
  };
  const whole = (value: unknown): unknown =>
    isObject(value) ? few(value, { id: kept, fee: kept, receipt: inner, log }) : null;
  return { rest: Array.isArray(json) ? json.map(whole) : whole(json), logs };
}

/** True for an object that is read and has names, none of them a field. */
function isStranger(json: unknown): boolean {
  return isObject(json) && Object.keys(json).length > 0 &&
    !Object.keys(json).some((name) => NAMES.slice(0, 4).some((known) => known === name));
}

const word = fc.oneof(
  fc.constantFrom("0", "-0", "1.5", "-3E-4", "1e400", "9007199254740993", "true", "false", "null"),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }).map((plain) => JSON.stringify(plain)),
  fc.constantFrom('"\\u0022\\/"', '"\\ud83d\\ude00"', '"{[,:]}\\\\"', '"é😀"', '"\\b\\f\\n\\r\\t"'),
);
const blank = fc.constantFrom("", "", "", " ", "\n\t", "\r");

function listOf(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(blank, fc.array(fc.tuple(member, blank), { maxLength: 4 })).map((
    [first, members],
  ) => `[${first}${members.map(([one, after]) => one + after).join(`,${first}`)}]`);
}

function objectOf(member: fc.Arbitrary<readonly [string, string]>): fc.Arbitrary<string> {
  const members = fc.uniqueArray(member, { selector: ([name]) => name, maxLength: 5 });
  return fc.tuple(blank, members).map(([gap, all]) =>
    `{${gap}${all.map(([name, value]) => `${gap}"${name}"${gap}:${value}${gap}`).join(",")}}`
  );
}

const otherName = fc.constantFrom("", "x", "idd", "__proto__", "toString", "é", "k".repeat(70));
const { any } = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    word,
    text,
    listOf(tie("any")),
    objectOf(fc.tuple(fc.oneof(otherName, fc.constantFrom(...NAMES)), tie("any"))),
  ),
}));
const other = fc.tuple(otherName, any);
const aLog = objectOf(fc.oneof(fc.tuple(fc.constantFrom("id", "data"), any), other));
const aReceipt = objectOf(fc.oneof(
  fc.tuple(fc.constantFrom("id", "fee", "receipt"), any),
  fc.tuple(fc.constant("log"), fc.oneof(listOf(aLog), aLog, word)),
  fc.tuple(
    fc.constant("receipt"),
    objectOf(fc.oneof(fc.tuple(fc.constantFrom("fee", "data"), any), other)),
  ),
  other,
));
const document = fc.oneof(aReceipt, listOf(aReceipt));
const cutsOf = fc.array(fc.nat(400), { maxLength: 6 }).map((cuts) =>
  cuts.toSorted((a, b) => a - b)
);

/** Damage of one byte: it is taken out, written over, or another comes before it. */
const damage = fc.record({
  place: fc.nat(1_000),
  kind: fc.constantFrom("out", "over", "before"),
  byte: fc.oneof(
    fc.constantFrom(...encoder.encode('{}[]",:\\ 01-+.eEtfnu\u0000\u000b\n;')),
    fc.integer({ min: 0, max: 127 }),
  ),
});

function damaged(bytes: Uint8Array, { place, kind, byte }: {
  readonly place: number;
  readonly kind: string;
  readonly byte: number;
}): Uint8Array {
  const at = place % bytes.length;
  const left = kind === "out" ? [] : [byte];
  const rest = bytes.subarray(kind === "before" ? at : at + 1);
  return Uint8Array.of(...bytes.subarray(0, at), ...left, ...rest);
}

/** JSON.parse of a text; undefined where it refuses it. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

Deno.test("a long text is read as JSON.parse reads it, wherever it is cut", () => {
  fc.assert(
    fc.property(document, cutsOf, (source, cuts) => {
      const bytes = encoder.encode(source);
      const json = JSON.parse(source);
      const places = cuts.map((cut) => Math.min(cut, bytes.length));
      if (isStranger(json)) assertThrows(() => inPieces(bytes, places), ChainUnavailable);
      else assertEquals(inPieces(bytes, places), asOne(json));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a text with one wrong byte is refused in pieces where JSON.parse refuses it", () => {
  fc.assert(
    fc.property(document, damage, cutsOf, (source, harm, cuts) => {
      const bytes = damaged(encoder.encode(source), harm);
      const read = orRefused(bytes, cuts.map((cut) => Math.min(cut, bytes.length)));
      const json = parsed(bytes);
      if (json === undefined) {
        // a letter of several bytes that is damaged is a letter to JSON.parse as well, only another one
        if (isLetters(bytes)) assertEquals(read, null);
      } else if (read !== null) assertEquals(read, asOne(json));
    }),
    { numRuns: 3_000 },
  );
});

/** True for whole letters of UTF-8. */
function isLetters(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
