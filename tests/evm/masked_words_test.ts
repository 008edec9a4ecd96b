import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { classifyBroadcast } from "../../chains/evm/pay/broadcast.ts";
import { rpc } from "../../chains/evm/read/source.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { readFrom } from "../../chains/tron/read/read_from.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true });

const KEY = "0123456789abcdef0123456789abcdef";
const API_KEY = "an-api-key";
const SECRETS = [KEY, "an%20operator", "an operator", "pass-word", API_KEY];

/** A node that repeats all that it was sent, and the answer that it wraps that in. */
function echoing(wrap: (words: string) => string) {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      const { pathname } = new URL(request.url);
      const basic = request.headers.get("authorization") ?? "";
      const words = `Cannot POST ${pathname} of ${decodeURIComponent("an%20operator")} ` +
        `(an%20operator:pass-word, ${basic}) with ${request.headers.get("x-key")}`;
      return new Response(wrap(words), { status: 200 });
    },
  );
  const node = new ChainNode({
    url: `http://an%20operator:pass-word@127.0.0.1:${server.addr.port}/v3/${KEY}/jsonrpc`,
    apiKey: { header: "x-key", value: API_KEY },
    requestTimeoutMs: 5_000,
  });
  return { node, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Nothing secret is in a text, and the rest of the node's words is. */
function assertMasked(text: string): void {
  assertStringIncludes(text, "Cannot POST /v3/.../jsonrpc of ...");
  const basic = btoa("an operator:pass-word");
  assertEquals([...SECRETS, basic].filter((secret) => text.includes(secret)), [], text);
}

const PAGE = (words: string) => `<html>${words}</html>`;
const RPC_ERROR = (message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } });
const HEX = (words: string) =>
  [...new TextEncoder().encode(words)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

for (
  const [what, wrap] of [
    ["a page instead of an answer", PAGE],
    ["an error of the call", RPC_ERROR],
    ["an error in hex", (words: string) => RPC_ERROR(HEX(words))],
  ] as const
) {
  test(`a node that repeats its URL and key in ${what} does not bring them into messages`, async () => {
    await using echo = echoing(wrap);
    const call = { method: "eth_chainId", params: [] };
    const { message } = await assertRejects(
      () => rpc.ask(echo.node, call, z.string()),
      Error,
    );
    assertMasked(message);
    const answer = await echo.node.post("", "{}");
    const outcome = classifyBroadcast(echo.node, answer, "0x00");
    assertMasked("message" in outcome ? outcome.message ?? "" : "");
  });
}

test("what a node of TRON repeats is masked as well", async () => {
  for (const wrap of [PAGE, (words: string) => JSON.stringify({ Error: words })]) {
    await using echo = echoing(wrap);
    const request = { path: "/wallet/getnowblock", body: {} };
    const { message } = await assertRejects(
      () =>
        readFrom(echo.node, request, z.object({ block: z.string() }), AbortSignal.timeout(5_000)),
      Error,
    );
    assertStringIncludes(message, "/v3/.../jsonrpc/wallet/getnowblock of ...");
    assertEquals(SECRETS.filter((secret) => message.includes(secret)), [], message);
  }
});

test("a key that the bound on a node's words cuts through is not shown in part", () => {
  const node = new ChainNode({ url: `https://node.example/${KEY}`, requestTimeoutMs: 1 });
  for (const before of [270, 290, 1_980, 1_999]) {
    const shown = node.wordsOf(`${"x".repeat(before)}${KEY}`);
    assertEquals(shown.includes(KEY.slice(0, 4)), false, shown);
  }
});

test("a query of a node's URL is sent with every request, and a key in it is shown nowhere", async () => {
  const asked: string[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      asked.push(new URL(request.url).pathname + new URL(request.url).search);
      return Response.json({ error: `no such key: ${KEY}` }, { status: 401 });
    },
  );
  const node = new ChainNode({
    url: `http://127.0.0.1:${server.addr.port}/ogrpc?network=ethereum&dkey=${KEY}`,
    requestTimeoutMs: 5_000,
  });
  const call = { method: "eth_chainId", params: [] };
  const { message } = await assertRejects(() => rpc.ask(node, call, z.string()), Error);
  await node.post("/wallet/getnowblock", "{}");
  const query = `?network=ethereum&dkey=${KEY}`;
  assertEquals(asked, [`/ogrpc${query}`, `/ogrpc/wallet/getnowblock${query}`]);
  assertEquals([message, node.label].filter((text) => text.includes(KEY)), []);
  assertEquals(node.masked(`key ${KEY}`), "key ...");
});

Deno.test("a key in the name of a node's host is shortened where the node is named", () => {
  const label = (url: string) => new ChainNode({ url, requestTimeoutMs: 1 }).label;
  assertEquals(label(`https://${KEY}.eth.example:8443/`), "0123....eth.example:8443");
  for (
    const host of [
      "api.trongrid.io",
      "ethereum-rpc.publicnode.com",
      "10.0.0.1:8545",
      "a-node-1.internal",
    ]
  ) assertEquals(label(`https://${host}`), host);
  const node = new ChainNode({ url: `https://${KEY}.eth.example`, requestTimeoutMs: 1 });
  assertEquals(node.masked(`dns of ${KEY}.eth.example`), "dns of ....eth.example");
});
