/**
 * Parts that several operations of the API reference have in common, once each under `components`.
 *
 * @module
 */

import type { Json, JsonObject } from "./json_schema.ts";

/** Operations as they are written at first: everything in its place. */
export interface Operation {
  readonly parameters: readonly JsonObject[];
  /** By status. */
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** The rest of the operation object. */
  readonly facts: JsonObject;
}

/** Parts of one kind by the name they get; those that occur once, or whose name is taken, have none. */
class SharedParts {
  readonly #kind: string;
  readonly #names = new Map<string, string>();
  readonly #parts = new Map<string, JsonObject>();

  constructor(
    kind: string,
    all: readonly JsonObject[],
    nameOf: (part: JsonObject) => string | null,
  ) {
    this.#kind = kind;
    const times = new Map<string, number>();
    for (const part of all) times.set(textOf(part), (times.get(textOf(part)) ?? 0) + 1);
    const seldomLast = [...times].toSorted(([, a], [, b]) => b - a);
    for (const [text, count] of seldomLast) {
      const part: JsonObject = JSON.parse(text);
      const name = nameOf(part);
      if (count === 1 || name === null || this.#parts.has(name)) continue;
      this.#names.set(text, name);
      this.#parts.set(name, part);
    }
  }

  /** The part, or a reference to it. */
  linked(part: JsonObject): JsonObject {
    const name = this.#names.get(textOf(part));
    return name === undefined ? part : { $ref: `#/components/${this.#kind}/${name}` };
  }

  toJson(): JsonObject {
    return Object.fromEntries([...this.#parts].toSorted(([a], [b]) => a < b ? -1 : 1));
  }
}

const textOf = (part: JsonObject) => JSON.stringify(part);

/** The operations with references, and the `components` that these name. */
export function sharedParts(operations: ReadonlyMap<string, Operation>) {
  const all = [...operations.values()];
  const parameters = new SharedParts("parameters", all.flatMap((one) => one.parameters), named);
  const responses = new SharedParts(
    "responses",
    all.flatMap((one) => Object.values(one.responses)),
    errorsNamed,
  );
  const linked = [...operations].map(([id, one]) => {
    const operation: JsonObject = {
      ...one.facts,
      ...(one.parameters.length === 0
        ? {}
        : { parameters: one.parameters.map((part) => parameters.linked(part)) }),
      responses: Object.fromEntries(
        Object.entries(one.responses).map(([status, part]) => [status, responses.linked(part)]),
      ),
    };
    return [id, operation] as const;
  });
  return {
    operations: new Map(linked),
    parameters: parameters.toJson(),
    responses: responses.toJson(),
  };
}

function named({ name }: JsonObject): string | null {
  return typeof name === "string" ? name : null;
}

/** A response is named after the errors that it documents; other answers have no name. */
function errorsNamed({ content }: JsonObject): string | null {
  const examples = fieldOf(fieldOf(content, "application/json"), "examples");
  if (examples === undefined || fieldOf(content, "text/html") !== undefined) return null;
  return Object.keys(examples).join("Or");
}

function fieldOf(value: Json | undefined, name: string): JsonObject | undefined {
  if (typeof value !== "object" || value === null || !(name in value)) return undefined;
  const field = (value as JsonObject)[name];
  return typeof field === "object" && field !== null ? field as JsonObject : undefined;
}
