import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { Answer } from "../../webhooks/answer_parser.ts";
import { Connections, type Exchange } from "../../webhooks/connections.ts";

const SOCKETS_PER_MERCHANT = 64;
/** Two merchants share an origin, one of them has another besides. */
const ENDPOINTS = [
  { merchantId: "mer_1", origin: "https://shop.example" },
  { merchantId: "mer_2", origin: "https://shop.example" },
  { merchantId: "mer_2", origin: "https://bank.example" },
].map((one) => ({ ...one, name: `${one.merchantId} ${one.origin}`, url: new URL(one.origin) }));

/** The other end of a connection, without a network: an endpoint answers with what it was asked. */
class Line extends EventEmitter {
  readonly writableLength = 0;
  isOpen = true;
  /** The request that is not answered yet. */
  asked: string | null = null;
  hasServed = false;

  constructor(readonly endpoint: string, private readonly sent: Map<string, number>) {
    super();
  }

  write(bytes: Uint8Array): boolean {
    assert(this.isOpen && this.asked === null, "a request goes to an open connection without one");
    this.asked = new TextDecoder().decode(bytes);
    this.sent.set(this.asked, (this.sent.get(this.asked) ?? 0) + 1);
    return true;
  }

  destroy(): void {
    this.isOpen = false;
  }

  answers(header = ""): void {
    const { asked } = this;
    if (asked === null) return;
    this.asked = null;
    this.hasServed = true;
    const head = `HTTP/1.1 200 OK\r\n${header}Content-Length: ${asked.length}\r\n\r\n`;
    const bytes = Buffer.from(head + asked);
    const middle = bytes.length >> 1;
    this.emit("data", bytes.subarray(0, middle));
    this.emit("data", bytes.subarray(middle));
  }
}

/** Steps of a run; a connection or request is picked by a number. */
type Step =
  | { readonly kind: "send"; readonly endpoint: number; readonly count: number }
  | { readonly kind: "answer all" }
  | {
    readonly kind: Happening | "give up";
    readonly pick: number;
  };

type Happening = "answer" | "answer and close" | "break off" | "end" | "reset" | "speak unasked";

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("send" as const),
    endpoint: fc.nat(ENDPOINTS.length - 1),
    count: fc.oneof(fc.constant(1), fc.constant(2), fc.constant(40)),
  }),
  fc.record({
    kind: fc.constantFrom(
      "answer" as const,
      "answer and close",
      "break off",
      "end",
      "reset",
      "speak unasked",
      "give up",
    ),
    pick: fc.nat(),
  }),
  fc.record({ kind: fc.constant("answer all" as const) }),
);

class Model {
  readonly lines: Line[] = [];
  readonly exchanges = new Map<string, Exchange>();
  /** Times that each request was sent. */
  readonly sent = new Map<string, number>();
  /** Outcome of every request; none gets a second one. */
  readonly told = new Map<string, string>();
  #next = 1;
  readonly connections = new Connections(({ merchantId, origin }) => {
    const line = new Line(`${merchantId} ${origin}`, this.sent);
    this.lines.push(line);
    return line as never;
  });

  open(name?: string): Line[] {
    return this.lines.filter(({ isOpen, endpoint }) => isOpen && (name ?? endpoint) === endpoint);
  }

  run(step: Step): void {
    switch (step.kind) {
      case "send":
        for (let i = 0; i < step.count; i++) this.#send(step.endpoint);
        return;
      case "answer all":
        for (const line of this.open()) line.answers();
        return;
      case "give up":
        return this.#giveUp(step.pick);
      default: {
        const open = this.open();
        const line = open[step.pick % open.length];
        if (line !== undefined) this.#happen(step.kind, line);
      }
    }
  }

  #happen(kind: Happening, line: Line): void {
    const { asked, hasServed } = line;
    switch (kind) {
      case "answer":
        return line.answers();
      case "answer and close":
        line.answers("Connection: close\r\n");
        assertEquals(line.isOpen, asked === null);
        return;
      case "end":
      case "reset":
        if (kind === "end") line.emit("end");
        else line.emit("error", Object.assign(new Error("reset"), { code: "ECONNRESET" }));
        assertEquals(line.isOpen, false);
        if (asked === null) return;
        // what an endpoint may not have heard on a kept connection is sent again, over a new one
        assertEquals(this.told.get(asked), hasServed ? undefined : "failed");
        return;
      case "break off":
        if (asked === null) return;
        line.emit("data", Buffer.from("HTTP/1.1 "));
        line.emit("end");
        assertEquals([line.isOpen, this.told.get(asked)], [false, "failed"]);
        return;
      case "speak unasked":
        if (asked !== null) return;
        line.emit("data", Buffer.from("HTTP/1.1 200 OK\r\n\r\n"));
        assertEquals(line.isOpen, false);
        return;
      default:
        kind satisfies never;
    }
  }

  /** Gives up a request; one that has ended will do. No other request must notice. */
  #giveUp(pick: number): void {
    const all = [...this.exchanges];
    const [id, exchange] = all[pick % all.length] ?? [];
    if (id === undefined) return;
    if (!this.told.has(id)) this.told.set(id, "given up");
    exchange?.giveUp();
  }

  #send(at: number): void {
    const endpoint = ENDPOINTS[at];
    assert(endpoint !== undefined);
    const id = `${endpoint.name} ${this.#next++}`;
    const tell = (what: string) => {
      assertEquals(this.told.get(id), undefined, `${id} is told once`);
      this.told.set(id, what);
    };
    const exchange = this.connections.request(
      endpoint,
      Buffer.from(id),
      {
        answered: ({ body }: Answer) => {
          assertEquals(new TextDecoder().decode(body), id);
          tell("answered");
        },
        failed: () => tell("failed"),
      },
    );
    this.exchanges.set(id, exchange);
  }

  check(): void {
    for (const { name } of ENDPOINTS) {
      const open = this.open(name);
      const asked = open.map((line) => line.asked).filter((id) => id !== null);
      assertEquals(new Set(asked).size, asked.length, "a request is on one connection");
      for (const id of asked) {
        assert(id.startsWith(`${name} `) && !this.told.has(id), "and nobody knows its end");
        assertLessOrEqual(this.sent.get(id) ?? 0, 2);
      }
      const mine = [...this.exchanges.keys()].filter((id) => id.startsWith(`${name} `));
      const untold = mine.filter((id) => !this.told.has(id));
      // nothing waits while there is a connection for it, or could be
      if (untold.length > asked.length) assertEquals(asked.length, SOCKETS_PER_MERCHANT);
      assertLessOrEqual(open.length, SOCKETS_PER_MERCHANT);
    }
  }
}

Deno.test("whatever connections do, every request is told its own answer or end, once", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: "max" }), (steps) => {
      const model = new Model();
      try {
        for (const one of steps) {
          model.run(one);
          model.check();
        }
        // those that wait are sent as the others are answered
        for (let i = 0; model.told.size < model.exchanges.size; i++) {
          assertLessOrEqual(i, model.exchanges.size);
          for (const line of model.open()) line.answers();
          model.check();
        }
        assertEquals(new Set(model.told.keys()), new Set(model.exchanges.keys()));
      } finally {
        model.connections.close();
      }
    }),
    { numRuns: 150 },
  );
});
