/**
 * A thousand customers with an open page, each asking at the page's own pace.
 *
 * @module
 */

import { PACE } from "../../../api/hosted_page/status.ts";

/** Life of a page, which is what the pages' ages are spread over. */
const LIFE_MS = 15 * 60_000;

/**
 * Times at which a page asks within a stretch of time, milliseconds from its beginning.
 *
 * @param random a number from 0 to 1, as `Math.random`
 */
export function pollTimes(lengthMs: number, random: () => number): readonly number[] {
  const times: number[] = [];
  let pause: number = PACE.first;
  // opened some time before the stretch begins
  let at = -LIFE_MS * random();
  while (at < lengthMs) {
    if (at >= 0) times.push(at);
    // as in page.js: each answer without news makes the pause longer, a little chance spreads it
    at += pause * (0.85 + 0.3 * random());
    pause = Math.min(pause * PACE.growth, PACE.most);
  }
  return times;
}

/**
 * Lets pages ask for their status for a while.
 *
 * @param urls one address per page
 * @returns how many answers there were
 * @throws {Error} when an answer is not a status
 */
export async function pollAll(urls: readonly string[], lengthMs: number): Promise<number> {
  const asked: Promise<void>[] = [];
  const ask = async (url: string) => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PACE.timeout) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Cannot measure pages as one is answered: ${text}`);
  };
  await Promise.all(
    urls.flatMap((url) =>
      pollTimes(lengthMs, Math.random).map((at) =>
        new Promise<void>((resolve) =>
          setTimeout(() => {
            asked.push(ask(url));
            resolve();
          }, at)
        )
      )
    ),
  );
  await Promise.all(asked);
  return asked.length;
}
