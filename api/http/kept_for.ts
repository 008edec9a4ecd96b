/**
 * Makes a costly answer at most once in a while, and never twice at once, however many ask for it.
 *
 * @param keptMs how long an answer is given again, from when it was asked for, milliseconds
 * @param clock Unix milliseconds; one that is set back makes a new answer
 * @param make makes an answer; one that fails is given to those who wait for it, and not kept
 */
export function keptFor<T>(
  keptMs: number,
  clock: () => number,
  make: () => Promise<T>,
): () => Promise<T> {
  let kept: { readonly at: number; readonly answer: Promise<T> } | null = null;
  let isMaking = false;
  return () => {
    const now = clock();
    const age = kept === null ? 0 : now - kept.at;
    if (kept !== null && (isMaking || age >= 0 && age < keptMs)) return kept.answer;
    isMaking = true;
    const answer = make();
    const mine = kept = { at: now, answer };
    answer.then(() => isMaking = false, () => {
      isMaking = false;
      if (kept === mine) kept = null;
    });
    return answer;
  };
}
