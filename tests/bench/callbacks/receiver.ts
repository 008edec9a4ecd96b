/**
 * The endpoints of the bench, in a process of their own: `/ok/...` acknowledges, `/fail/...` refuses,
 * `/hang/...` does not answer in time. Remembers when each event first arrived.
 *
 * @module
 */

/** Longer than any delivery of the bench may take. */
const HANG_MS = 60_000;

const arrivals = new Map<string, number>();

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  async (request) => {
    const at = Date.now();
    const { pathname } = new URL(request.url);
    if (pathname === "/arrivals") {
      const answer = Response.json([...arrivals]);
      arrivals.clear();
      return answer;
    }
    await request.body?.cancel();
    const id = request.headers.get("x-webhook-id") ?? "";
    if (!arrivals.has(id)) arrivals.set(id, at);
    if (pathname.startsWith("/fail/")) return new Response("no", { status: 500 });
    if (pathname.startsWith("/hang/")) {
      await new Promise((resolve) => setTimeout(resolve, HANG_MS));
    }
    return Response.json({ ok: true });
  },
);
// deno-lint-ignore no-console -- the bench reads it
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));
