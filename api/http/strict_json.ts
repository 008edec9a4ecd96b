/**
 * JSON from outside. On top of JSON.parse: bounded depth, no key twice (the last one would win, and
 * a gateway before us may have read the first), no `__proto__`, no NUL and no lone surrogate, which
 * PostgreSQL cannot store.
 *
 * @module
 */

/** Levels of arrays and objects within each other that are accepted. */
export const DEEPEST = 32;

/** Numbers of so many digits read back as they were written (IEEE 754: 15 decimal digits are kept). */
const KEPT_DIGITS = 15;

/** Objects and arrays with a number of their own that does not read back as it was written. */
const INEXACT = new WeakSet<object>();

/**
 * True where a number of an object or array, not of those within it, was written with digits that
 * JavaScript does not keep: `9007199254740993` is read as `9007199254740992`.
 *
 * @param holder part of a value that {@linkcode parseStrictJson} has read, itself and no copy
 */
export function hasInexactNumber(holder: object): boolean {
  return INEXACT.has(holder);
}

export type StrictJson =
  | { readonly kind: "value"; readonly value: unknown }
  | {
    readonly kind: "fault";
    readonly code: "malformed" | "too_deep" | "duplicate_key" | "forbidden_key" | "forbidden_text";
  };

/** Reads one JSON text. */
export function parseStrictJson(text: string): StrictJson {
  const scanned = scan(text);
  if (scanned === null) return { kind: "fault", code: "too_deep" };
  let value: unknown;
  try {
    value = scanned.hasLongNumber ? JSON.parse(text, markInexact) : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: "fault", code: "malformed" };
    throw error;
  }
  // Raw control characters are malformed JSON and the bytes were valid UTF-8, so only an escape
  // can smuggle a forbidden character in.
  const walk = { keys: 0, checkText: scanned.hasEscape, code: null as WalkFault };
  visit(value, walk);
  if (walk.code !== null) return { kind: "fault", code: walk.code };
  if (walk.keys !== scanned.members) return { kind: "fault", code: "duplicate_key" };
  return { kind: "value", value };
}

/** True where the text holds NUL or a lone surrogate. */
export function isForbiddenText(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

type WalkFault = "forbidden_key" | "forbidden_text" | null;

function visit(
  value: unknown,
  walk: { keys: number; readonly checkText: boolean; code: WalkFault },
): void {
  if (typeof value === "string") {
    if (walk.checkText && isForbiddenText(value)) walk.code = "forbidden_text";
  } else if (Array.isArray(value)) {
    for (const item of value) visit(item, walk);
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      walk.keys++;
      if (key === "__proto__") walk.code = "forbidden_key";
      else if (walk.checkText && isForbiddenText(key)) walk.code = "forbidden_text";
      visit((value as Readonly<Record<string, unknown>>)[key], walk);
    }
  }
}

/** Records the holders of inexact numbers; changes nothing. */
function markInexact(
  this: object,
  _name: string,
  value: unknown,
  { source }: { readonly source?: string } = {},
): unknown {
  if (typeof value === "number" && source !== undefined && !isNumber(value, source)) {
    INEXACT.add(this);
  }
  return value;
}

/**
 * True where a decimal text is the number that was read of it, whatever zeros and exponents it is
 * written with. A fraction of up to 17 digits is: many clients write doubles so, 19.99 as
 * 19.989999999999998.
 */
function isNumber(value: number, text: string): boolean {
  const [sent, read] = [digitsOf(text), digitsOf(String(value))];
  if (sent === null || read === null) return false;
  if (!Number.isInteger(value) && sent.digits.replace("-", "").length <= 17) return true;
  return sent.digits === read.digits && (sent.digits === "" || sent.exponent === read.exponent);
}

/** A number as its digits, without zeros at either end, and the power of ten of the last of them. */
function digitsOf(text: string): { readonly digits: string; readonly exponent: number } | null {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (parts === null) return null;
  const [, sign = "", whole = "", fraction = "", power = "0"] = parts;
  const written = `${whole}${fraction}`;
  // a regular expression would try every run of zeros to its end, seconds for a body of only digits
  let end = written.length;
  while (end > 0 && written.charCodeAt(end - 1) === ZERO) end--;
  const kept = written.slice(0, end);
  const digits = kept.replace(/^0+/, "");
  const exponent = Number(power) - fraction.length + (written.length - kept.length);
  return { digits: digits === "" ? "" : `${sign}${digits}`, exponent };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const EXPONENT = 0x45;
const SMALL_EXPONENT = 0x65;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

interface Scanned {
  readonly members: number;
  readonly hasEscape: boolean;
  /** A number has more digits than are kept for certain, or an exponent. */
  readonly hasLongNumber: boolean;
}

/** Counts members (colons outside strings) and depth in one pass; null: too deep. */
function scan(text: string): Scanned | null {
  let digits = 0;
  let hasLongNumber = false;
  let members = 0;
  let depth = 0;
  let inString = false;
  let hasEscape = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) {
        hasEscape = true;
        i++;
      } else if (code === QUOTE) inString = false;
    } else if ((code >= ZERO && code <= NINE) || code === POINT) {
      if (++digits > KEPT_DIGITS) hasLongNumber = true;
      continue;
    } else if (digits > 0 && (code === EXPONENT || code === SMALL_EXPONENT)) hasLongNumber = true;
    else if (code === QUOTE) inString = true;
    else if (code === COLON) members++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > DEEPEST) return null;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    digits = 0;
  }
  return { members, hasEscape, hasLongNumber };
}
