import { RateUnavailable } from "./source.ts";

/** Longest answer that is read; the largest table of the sources has some 20 kB. */
const LONGEST_ANSWER = 1_000_000;

/**
 * Reads a JSON answer with every number as the text it was written as, so that no digit goes
 * through a binary fraction.
 *
 * @throws {RateUnavailable} for any other answer than 200 with JSON, and for none
 */
export async function readJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { host } = new URL(url);
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      redirect: "error",
      signal,
    });
    const text = await readText(response);
    if (response.status !== 200) {
      throw new RateUnavailable(
        `Cannot read rates as ${host} answered HTTP ${response.status}`,
      );
    }
    // the third parameter is newer than the compiler's library: it holds the text of the number
    return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
      return typeof value === "number" ? context?.source : value;
    });
  } catch (error) {
    if (error instanceof RateUnavailable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RateUnavailable(`Cannot read rates from ${host}: ${reason}`, { cause: error });
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_ANSWER) throw new RateUnavailable("the answer is too long");
  }
  return text + decoder.decode();
}
