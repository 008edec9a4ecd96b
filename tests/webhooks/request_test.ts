import { assert, assertEquals, assertMatch } from "@std/assert";
import { createSender, type Resolve } from "../../webhooks/sender.ts";
import { testNeeding } from "../support/permissions.ts";
import {
  AUTHORITY,
  CERTIFICATE,
  KEY,
  SELF_SIGNED,
  SELF_SIGNED_KEY,
} from "./support/certificate.ts";

const test = testNeeding({ net: true, env: true });

const NEVER = new AbortController().signal;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"ok":true}';
const BODY = '{"id":"1"}';

const toThisMachine: Resolve =
  ((_host: string, _options: unknown, done: (error: null, all: unknown) => void) =>
    done(null, [{ address: "127.0.0.1", family: 4 }])) as never;

/** Answers once, after the end of a request's body; keeps what it heard. */
function endpoint(listener: Deno.Listener = Deno.listen({ hostname: "127.0.0.1", port: 0 })) {
  let heard = "";
  const serving = (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(8_192);
      while (!heard.endsWith(BODY)) {
        // a handshake that the other end refuses is an error here
        const size = await connection.read(buffer).catch(() => null);
        if (size === null) break;
        heard += new TextDecoder().decode(buffer.subarray(0, size));
      }
      if (heard !== "") await connection.write(new TextEncoder().encode(OK));
      connection.close();
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    /** Ends it; @returns all that it heard */
    end: async () => {
      listener.close();
      await serving;
      return heard;
    },
  };
}

async function sendTo(url: string, options: { readonly trusted?: string } = {}) {
  const rules = { allowLoopback: true };
  const sender = createSender({ rules, resolve: toThisMachine, ...options });
  const secrets = { current: "whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=", previous: null };
  const delivery = {
    merchantId: "mer_1",
    eventId: "evt_1",
    type: "deposit.confirmed",
    body: BODY,
    url,
    secrets,
  } as const;
  try {
    return await sender.send({ ...delivery, timeoutMs: 5_000 }, 1_700_000_000_000, NEVER);
  } finally {
    sender.close();
  }
}

test("whatever a URL holds, a request has one line, one host and our headers", async (t) => {
  const rows: readonly (readonly [string, string, string, string])[] = [
    ["as it is", "shop.example", "/hook?a=b&c=%20d", "/hook?a=b&c=%20d"],
    ["without a path", "shop.example", "?x", "/?x"],
    ["with a fragment", "shop.example", "/a?b#c", "/a?b"],
    ["with line ends", "shop.example", "/a\r\nX-Evil: 1\r\n\r\n?b\r\nc", "/aX-Evil:%201?bc"],
    ["with line ends in code", "shop.example", "/%0d%0aX-Evil:1", "/%0d%0aX-Evil:1"],
    ["with spaces and a version", "shop.example", "/a HTTP/1.0?b c", "/a%20HTTP/1.0?b%20c"],
    [
      "beyond ASCII",
      "shop.example",
      "/\u00fc\u{1f4b6}?\u00fc\u0080",
      "/%C3%BC%F0%9F%92%B6?%C3%BC%C2%80",
    ],
    ["with controls", "shop.example", "/a\0\x7f?\x01\x7f", "/a%00%7F?%01%7F"],
    ["half a character", "shop.example", "/\ud800?\udfff", "/%EF%BF%BD?%EF%BF%BD"],
    ["backslashes and dots", "shop.example", "\\a\\..\\b/./%2e%2e/c", "/c"],
    ["a name beyond ASCII", "b\u00fccher.example", "/", "/"],
    ["a name's last dot", "SHOP.example.", "/", "/"],
    ["an address", "127.0.0.1", "//a//b", "//a//b"],
    ["an address in other words", "0x7f.1", "/", "/"],
  ];
  const hosts: Record<string, string> = {
    "b\u00fccher.example": "xn--bcher-kva.example",
    "SHOP.example.": "shop.example.",
    "0x7f.1": "127.0.0.1",
  };
  for (const [name, host, rest, target] of rows) {
    await t.step(name, async () => {
      const hook = endpoint();
      const outcome = await sendTo(`http://${host}:${hook.port}${rest}`);
      const heard = await hook.end();
      assertEquals(outcome.category, "acknowledged");
      const [head = "", body] = heard.split("\r\n\r\n");
      const [line, ...fields] = head.split("\r\n");
      assertEquals([line, body], [`POST ${target} HTTP/1.1`, BODY]);
      const names = fields.map((field) => field.slice(0, field.indexOf(":")).toLowerCase());
      assertEquals(names, [
        "host",
        "content-type",
        "accept",
        "user-agent",
        "connection",
        "content-length",
        "x-webhook-event",
        "x-webhook-id",
        "x-webhook-timestamp",
        "x-webhook-signature",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
      ]);
      assertEquals(fields[0], `Host: ${hosts[host] ?? host}:${hook.port}`);
      assert(fields.includes(`Content-Length: ${BODY.length}`));
    });
  }
});

test("a certificate that proves nothing is refused before anything is sent", async (t) => {
  const signed = { hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY };
  const selfSigned = { ...signed, cert: SELF_SIGNED, key: SELF_SIGNED_KEY };
  const rows:
    readonly (readonly [string, Deno.ListenTlsOptions & Deno.TlsCertifiedKeyPem, string])[] = [
      ["that signed itself", selfSigned, "shop.example"],
      ["that signed itself, for an address", selfSigned, "127.0.0.1"],
      ["for another name", signed, "bank.example"],
      ["for a part of the name", signed, "www.shop.example"],
      ["for another address", { ...signed, hostname: "127.0.0.2" }, "127.0.0.2"],
      ["for a name that is none", signed, "*.example"],
    ];
  for (const [name, options, host] of rows) {
    await t.step(name, async () => {
      const hook = endpoint(Deno.listenTls(options));
      const outcome = await sendTo(`https://${host}:${hook.port}/`, { trusted: AUTHORITY });
      assertEquals(await hook.end(), "");
      assert(outcome.category === "network", outcome.category);
      assertMatch(outcome.code, /CERT/);
    });
  }
});

test("no environment variable switches the check of certificates off", async () => {
  Deno.env.set("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  try {
    const hook = endpoint(
      Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY }),
    );
    const outcome = await sendTo(`https://shop.example:${hook.port}/`);
    assertEquals(await hook.end(), "");
    assert(outcome.category === "network", outcome.category);
    assertMatch(outcome.code, /CERT|SIGNATURE/);
  } finally {
    Deno.env.delete("NODE_TLS_REJECT_UNAUTHORIZED");
  }
});
