/**
 * JSON from outside. On top of JSON.parse: bounded depth, no key twice (the last one would win, and
 * a gateway before us may have read the first), no `__proto__`, no NUL and no lone surrogate, which
 * PostgreSQL cannot store.
 *
 * @module
 */

/** Levels of arrays and objects within each other that are accepted. */
export const DEEPEST = 32;

/** What a text turned out to be. */
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
    value = JSON.parse(text);
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

/** Whether the text holds NUL or a lone surrogate. */
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
    for (const [key, item] of Object.entries(value)) {
      walk.keys++;
      if (key === "__proto__") walk.code = "forbidden_key";
      else if (walk.checkText && isForbiddenText(key)) walk.code = "forbidden_text";
      visit(item, walk);
    }
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Counts members (colons outside strings) and depth in one pass; null: too deep. */
function scan(text: string): { readonly members: number; readonly hasEscape: boolean } | null {
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
    } else if (code === QUOTE) inString = true;
    else if (code === COLON) members++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > DEEPEST) return null;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return { members, hasEscape };
}
