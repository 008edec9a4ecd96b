/**
 * What counts as "received": a 2xx answer whose JSON body says `ok` is true, and nothing else.
 *
 * @module
 */

/**
 * True if the body of a 2xx answer acknowledges the delivery.
 *
 * @param body the whole body as text
 */
export function isAcknowledgement(body: string): boolean {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
  return typeof answer === "object" && answer !== null && !Array.isArray(answer) &&
    Object.hasOwn(answer, "ok") && (answer as { readonly ok: unknown }).ok === true;
}
