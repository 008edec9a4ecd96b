import { assertEquals } from "@std/assert";
import { checkUrl, isAllowedAddress } from "../../webhooks/url_guard.ts";
import { checkHost } from "../../webhooks/check_host.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";

const PUBLIC = { allowLoopback: false };
const DEVELOPMENT = { allowLoopback: true };

function verdict(text: string, rules = PUBLIC): string {
  const check = checkUrl(text, rules);
  return check.kind === "allowed" ? "allowed" : check.reason;
}

Deno.test("only https without credentials to public hosts passes", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["https://shop.example/hook?a=b", "allowed"],
    ["https://shop.example:8443/", "allowed"],
    ["https://8.8.8.8/", "allowed"],
    ["https://localhost/", "not_public"],
    ["https://LOCALHOST./", "not_public"],
    ["https://a.localhost/", "not_public"],
    ["https://billing/", "not_public"],
    ["https://billing./", "not_public"],
    ["https://billing.internal/", "not_public"],
    ["https://metadata.google.internal/", "not_public"],
    ["https://printer.local/", "not_public"],
    ["https://printer.local./", "not_public"],
    ["https://nas.home.arpa/", "not_public"],
    ["https://vm.localdomain/", "not_public"],
    ["https://router.lan/", "not_public"],
    ["https://ledger.default.svc/", "not_public"],
    ["https://hidden.onion/", "not_public"],
    ["https://localhost.example/", "allowed"],
    ["https://internal.example/", "allowed"],
    ["https://local.shop.example/", "allowed"],
    ["https://shop.example./", "allowed"],
    ["https://b\u00fccher.example/", "allowed"],
    ["http://shop.example/", "not_https"],
    ["ftp://shop.example/", "not_https"],
    ["javascript:alert(1)", "not_https"],
    ["shop.example", "malformed"],
    ["https://", "malformed"],
    ["https://user@shop.example/", "has_credentials"],
    ["https://:secret@shop.example/", "has_credentials"],
    [`https://shop.example/${"x".repeat(2_048)}`, "too_long"],
    ["https://127.0.0.1/", "not_public"],
    ["https://2130706433/", "not_public"],
    ["https://0x7f.1/", "not_public"],
    ["https://0177.0.0.1/", "not_public"],
    ["https://0.0.0.0/", "not_public"],
    ["https://10.1.2.3/", "not_public"],
    ["https://172.16.0.1/", "not_public"],
    ["https://192.168.1.1/", "not_public"],
    ["https://169.254.169.254/latest/meta-data", "not_public"],
    ["https://100.100.100.200/", "not_public"],
    ["https://168.63.129.16/", "not_public"],
    ["https://192.0.2.1/", "not_public"],
    ["https://224.0.0.1/", "not_public"],
    ["https://255.255.255.255/", "not_public"],
    ["https://[::1]/", "not_public"],
    ["https://[::]/", "not_public"],
    ["https://[::ffff:10.0.0.1]/", "not_public"],
    ["https://[::ffff:7f00:1]/", "not_public"],
    ["https://[64:ff9b::a00:1]/", "not_public"],
    ["https://[64:ff9b:1::1]/", "not_public"],
    ["https://[2002:a00:1::]/", "not_public"],
    ["https://[2001:0:a00:1::]/", "not_public"],
    ["https://[fe80::1]/", "not_public"],
    ["https://[fec0::1]/", "not_public"],
    ["https://[fd00:ec2::254]/", "not_public"],
    ["https://[ff02::1]/", "not_public"],
    ["https://[2001:db8::1]/", "not_public"],
    ["https://[::10.0.0.1]/", "not_public"],
    ["https://[2606:4700::1111]/", "only_ipv6"],
  ];
  for (const [text, expected] of rows) assertEquals(verdict(text), expected, text);
});

Deno.test("development adds plain http and this machine, and nothing else", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["http://127.0.0.1:9000/hook", "allowed"],
    ["http://[::1]:9000/", "allowed"],
    ["http://localhost:9000/", "allowed"],
    ["http://receiver:9000/", "allowed"],
    ["http://192.168.1.1/", "not_public"],
    ["http://169.254.169.254/", "not_public"],
    ["http://0.0.0.0/", "not_public"],
    ["http://user@127.0.0.1/", "has_credentials"],
  ];
  for (const [text, expected] of rows) assertEquals(verdict(text, DEVELOPMENT), expected, text);
});

Deno.test("a page's URL may name any host, as it is the customer's browser that goes there", () => {
  const rules = { allowLoopback: false, browserOnly: true };
  assertEquals(verdict("https://intranet/thanks", rules), "allowed");
  assertEquals(verdict("https://10.1.2.3/", rules), "not_public");
});

Deno.test("an address that is no address is not called", () => {
  for (const text of ["", "localhost", "1.2.3", "::g"]) {
    assertEquals(isAllowedAddress(text, DEVELOPMENT), false);
  }
});

Deno.test("a host is refused when any of its addresses is private, or none is IPv4; the reason is told", async () => {
  const url = new URL("https://shop.example/");
  const check = (...addresses: string[]) => {
    const names = new NameLookups({
      resolve: (_host, _options, done) =>
        done(null, addresses.map((address) => ({ address, family: 4 }))),
    });
    return checkHost(url, PUBLIC, names, "mer_1");
  };
  assertEquals(await check("8.8.8.8"), null);
  assertEquals(await check("8.8.8.8", "2606:4700::1111"), null);
  assertEquals(await check("8.8.8.8", "10.0.0.1"), "not_public");
  assertEquals(await check("2606:4700::1111"), "only_ipv6");
  assertEquals(await check("2606:4700::1111", "fd00::1"), "not_public");
  assertEquals(await check(), "not_public");
});
