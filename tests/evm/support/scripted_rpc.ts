/**
 * A node whose answers are written by the test, by their methods, over real HTTP. Batches are answered
 * in reverse, as the order of answers says nothing.
 *
 * @module
 */

/** An error of JSON-RPC. */
export class RpcFailure {
  constructor(readonly code: number, readonly message: string) {}
}

/** Makes a method's result, or its failure, of its parameters. */
export type Script = (params: readonly unknown[]) => unknown;

/** A running node. */
export interface ScriptedRpc extends AsyncDisposable {
  readonly url: string;
  readonly scripts: Record<string, Script>;
  /** Methods in the order in which they were asked for; those of a batch with its size. */
  readonly asked: string[];
  /** Headers of the last request. */
  readonly headers: Headers[];
  /** Answers whole requests instead of the scripts while it is set. */
  whole: ((body: unknown) => Response) | null;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Starts a node on a free loopback port. */
export function startScriptedRpc(scripts: Record<string, Script>): ScriptedRpc {
  const asked: string[] = [];
  const headers: Headers[] = [];
  const answer = ({ id, method, params }: Call) => {
    const result = scripts[method]?.(params) ??
      (scripts[method] === undefined ? new RpcFailure(-32601, "the method does not exist") : null);
    return result instanceof RpcFailure
      ? { jsonrpc: "2.0", id, error: { code: result.code, message: result.message } }
      : { jsonrpc: "2.0", id, result };
  };
  const node: Omit<ScriptedRpc, "url" | typeof Symbol.asyncDispose> = {
    scripts,
    asked,
    headers,
    whole: null,
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (req) => {
    const body: Call | readonly Call[] = await req.json();
    headers.push(req.headers);
    const calls = Array.isArray(body) ? body as readonly Call[] : null;
    asked.push(calls === null ? (body as Call).method : `${calls.length} x ${calls[0]?.method}`);
    if (node.whole !== null) return node.whole(body);
    return Response.json(
      calls === null ? answer(body as Call) : calls.toReversed().map(answer),
    );
  });
  return Object.assign(node, {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}
