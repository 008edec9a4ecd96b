/** A node that says of transactions that they failed, in front of a true one. @module */

/** See {@linkcode startLyingNode}. */
export interface LyingNode extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a node that answers as the true one does, but for these transactions.
 *
 * @param target the true node
 * @param failed ids of transactions that it says have failed; read at every answer
 */
export function startLyingNode(target: string, failed: ReadonlySet<string>): LyingNode {
  const lie = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(lie);
    if (typeof value !== "object" || value === null) return;
    const one = value as Record<string, unknown>;
    if (failed.has(String(one["txID"])) && "ret" in one) one["ret"] = [{ contractRet: "REVERT" }];
    if (failed.has(String(one["id"])) && "receipt" in one) {
      Object.assign(one, { result: "FAILED", log: [] });
      Object.assign(one["receipt"] as object, { result: "REVERT" });
    }
    Object.values(one).forEach(lie);
  };
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve(options, async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method } = request;
    const body = method === "POST" ? await request.text() : null;
    const { status, ...answer } = await answerOf(
      await fetch(target + pathname + search, { method, body }),
    );
    lie(answer.json);
    return new Response(JSON.stringify(answer.json), { status });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function answerOf(response: Response): Promise<{ status: number; json: unknown }> {
  return { status: response.status, json: await response.json() };
}
