/** A merchant's endpoint that acknowledges everything and notes when withdrawals were confirmed. */
export interface LifeReceiver extends AsyncDisposable {
  readonly url: string;
  /** Times at which withdrawals' confirmations were acknowledged, by id; `performance.now()`. */
  readonly confirmed: ReadonlyMap<string, number>;
}

/** Opens the endpoint. */
export function openLifeReceiver(): LifeReceiver {
  const confirmed = new Map<string, number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const text = await request.text();
      if (request.headers.get("x-webhook-event") === "withdrawal.confirmed") {
        const payload: { readonly withdrawalId: string } = JSON.parse(text);
        confirmed.set(payload.withdrawalId, performance.now());
      }
      return Response.json({ ok: true });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    confirmed,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
