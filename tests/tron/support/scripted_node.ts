/**
 * A node whose every answer is written by the test, over real HTTP.
 *
 * @module
 */

/** Makes a script's answer to a body: JSON (sent with 200) or a whole response. */
export type Script = (body: Record<string, unknown>) => unknown;

/** A running scripted node. */
export interface ScriptedNode extends AsyncDisposable {
  readonly url: string;
  /** Answers by path; changing them takes effect at once. Unknown paths answer 404. */
  readonly scripts: Record<string, Script>;
  /** Requests in the order of their arrival. */
  readonly requests: { readonly path: string; readonly body: string; readonly headers: Headers }[];
}

/** Starts a node on a free loopback port. */
export function startScriptedNode(scripts: Record<string, Script>): ScriptedNode {
  const requests: ScriptedNode["requests"] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (req) => {
    const path = new URL(req.url).pathname;
    const body = await req.text();
    requests.push({ path, body, headers: req.headers });
    const script = scripts[path];
    if (script === undefined) return new Response("not found", { status: 404 });
    const answer = await script(body === "" ? {} : JSON.parse(body));
    return answer instanceof Response ? answer : Response.json(answer);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    scripts,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A promise that is kept only when the signal says so: a node that does not answer. */
export function never(until: AbortSignal): Promise<Response> {
  return new Promise((resolve) => {
    until.addEventListener("abort", () => resolve(new Response(null, { status: 500 })));
  });
}
