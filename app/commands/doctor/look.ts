/** Something that a check has seen, or the reason why it has seen nothing. */
export type Seen<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Nothing was looked at, for a reason that is known before. */
export function unseen(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

/**
 * Looks at one thing, apart from all others: a failure is an answer, and so is none in time.
 *
 * @param boundMs milliseconds after which it is given up
 * @param ask stops at the signal, where it can
 */
export async function look<T>(
  boundMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<Seen<T>> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${boundMs / 1_000} s`);
      reject(error);
      controller.abort(error);
    }, boundMs);
  });
  try {
    return { ok: true, value: await Promise.race([ask(controller.signal), late]) };
  } catch (error) {
    return unseen(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
}

/** The reason of a failure, in one line; some errors of connections have no message but a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : error.name;
  const cause = error.cause === undefined ? "" : `: ${reasonOf(error.cause)}`;
  return `${error.message || code}${cause}`.replaceAll(/\s+/g, " ");
}
