/**
 * The language of a hosted page.
 *
 * @module
 */

import { ar } from "./texts/ar.ts";
import { en, type Texts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { zh } from "./texts/zh.ts";

/** The languages there are, in the order of the page's switch; the first is the default. */
export const LANGUAGES = { en, zh, es, ar } as const satisfies Record<string, Texts>;

/** One of {@linkcode LANGUAGES}, as in HTML's `lang`. */
export type Language = keyof typeof LANGUAGES;

function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text);
}

/**
 * Chooses the language of a page.
 *
 * @param wanted what the customer clicked on, from the query; null where nothing
 * @param acceptLanguage the browser's preferences (RFC 9110, section 12.5.4)
 */
export function chooseLanguage(wanted: string | null, acceptLanguage: string | null): Language {
  if (wanted !== null && isLanguage(wanted)) return wanted;
  const ranges = (acceptLanguage ?? "").split(",").slice(0, 32).map((part) => {
    const [tag = "", ...parameters] = part.trim().toLowerCase().split(/\s*;\s*/);
    const weight = parameters.find((one) => one.startsWith("q="))?.slice(2) ?? "1";
    return {
      primary: tag.split("-")[0] ?? "",
      weight: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0,
    };
  });
  // sorting is stable: of two that weigh the same, the first named counts
  for (const { primary, weight } of ranges.toSorted((a, b) => b.weight - a.weight)) {
    if (weight > 0 && isLanguage(primary)) return primary;
  }
  return "en";
}
