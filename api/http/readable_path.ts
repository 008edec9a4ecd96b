import { isForbiddenText } from "./strict_json.ts";

/**
 * Checks that the path of a request can name anything: its percent-encoding is well-formed UTF-8, which
 * excludes lone surrogates, and no part of it holds a NUL. The database can store neither, and one
 * such text in a batch would fail the statement that reads for all of its merchants.
 *
 * @param url as it was asked for
 * @param params parts of the path as the router decoded them
 */
export function isReadablePath(url: string, params: Readonly<Record<string, string>>): boolean {
  if (Object.values(params).some(isForbiddenText)) return false;
  if (!url.includes("%")) return true;
  // a Host header may make it no URL at all
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  try {
    return !isForbiddenText(decodeURIComponent(parsed.pathname));
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}
