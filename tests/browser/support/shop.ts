/** The merchant's own site, which customers are led back to. */
export interface Shop extends AsyncDisposable {
  /** Origin, without a slash at its end; with `?frame=` it shows another page in a frame. */
  readonly url: string;
  visits(): number;
  /** Referrers that browsers sent. */
  referrers(): readonly string[];
}

/** Opens the site. */
export function openShop(): Shop {
  let visits = 0;
  const referrers: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      visits++;
      const referrer = request.headers.get("referer");
      if (referrer !== null) referrers.push(referrer);
      const framed = new URL(request.url).searchParams.get("frame");
      const content = framed === null ? "Welcome back" : `<iframe src="${framed}"></iframe>`;
      return new Response(
        `<!doctype html><title>Shop</title><link rel="icon" href="data:,">${content}`,
        { headers: { "content-type": "text/html" } },
      );
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    visits: () => visits,
    referrers: () => referrers,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
