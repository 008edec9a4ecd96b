/**
 * Values that have broken services before: as texts, as JSON values, as whole bodies.
 *
 * @module
 */

/** Texts, wherever a text is expected. */
export const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u001b[2J\u001b]0;x\u0007",
  "\u202e\u2066x",
  "\ud800",
  "\ufeffx",
  "\u{1f4b8}".repeat(40),
  "a".repeat(129),
  "a".repeat(20_000),
  "e\u0301".repeat(64),
  "'; DROP TABLE book.merchant; --",
  "%00%ff%2e%2e%2f",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "undefined",
  "NaN",
  "-0",
  "0",
  "-1",
  "1e400",
  "1e-19",
  "0x10",
  "+5",
  "1,5",
  "00001.10",
  "0.0000000000000000001",
  "9".repeat(21),
  "9".repeat(400),
  `0.${"0".repeat(17)}1`,
  "999999999999999999999999999999.999999999999999999",
  "1000000000000",
  "1000000000000.000001",
  "2026-02-30T00:00:00.000Z",
  "0000-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
  "+275760-09-13T00:00:00.000Z",
  "-000001-01-01",
  "2026-11-23T00:00:00+99:99",
  "http://127.0.0.1:1/hook",
  "https://[::1]:1/",
  "https://user:password@host.invalid/",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "<script>alert(1)</script>",
  "${7*7}{{7*7}}",
  "fe80::1%eth0",
  "0.0.0.0/0",
  "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb",
  "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdI",
  "0".repeat(64),
  "f".repeat(64),
];

/** Values of JSON, wherever any is expected. */
export const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e21,
  1e308,
  9_007_199_254_740_993,
  2 ** 31,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  { __proto__: null, constructor: 1 },
  JSON.parse('{"__proto__":{"isAdmin":true}}'),
  Array.from({ length: 300 }, (_, i) => i),
  Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i])),
  nested(60),
];

/** Bodies as they are sent, most of them no JSON. */
export const HOSTILE_BODIES: readonly string[] = [
  "",
  "null",
  "[]",
  '"text"',
  "12",
  "{",
  '{"a":1}}',
  '{"amount":"1","amount":"2"}',
  '{"amount":1e999}',
  '{"\\u0000":"\\u0000"}',
  '{"a":"\\ud800"}',
  "\ufeff{}",
  "{'a':1}",
  '{"a":NaN}',
  "\u0000",
  `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
  `{"a":${'{"a":'.repeat(3_000)}1${"}".repeat(3_001)}`,
  `{"metadata":{"a":"${"x".repeat(66_000)}"}}`,
  `{"a":${"9".repeat(30_000)}}`,
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { a: [value] };
  return value;
}
