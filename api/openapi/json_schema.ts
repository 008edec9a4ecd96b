/**
 * JSON as a value, and from the schemas that validate to those that document: JSON Schema 2020-12, which
 * OpenAPI 3.1 uses as it is.
 *
 * @module
 */
import { z } from "zod";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [name: string]: Json };

/** The JSON of a value; what JSON cannot say is left out. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}

export function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** Characters of a line at most, where there is a choice. */
const LINE = 100;

/** JSON as text: what holds no lists and objects stands on one line where it fits. */
export function printJson(value: Json, indent = "", before = 0): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{ ", " }"];
  const parts: readonly (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item: Json) => ["", item])
    : Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item]);
  if (parts.length === 0) return (open + close).replaceAll(" ", "");
  const isFlat = parts.every(([, item]) => typeof item !== "object" || item === null);
  const line = `${open}${
    parts.map(([name, item]) => name + JSON.stringify(item)).join(", ")
  }${close}`;
  if (isFlat && before + line.length < LINE) return line;
  const inner = `${indent}  `;
  const lines = parts.map(([name, item]) =>
    `${inner}${name}${printJson(item, inner, inner.length + name.length)}`
  );
  return `${open.trim()}\n${lines.join(",\n")}\n${indent}${close.trim()}`;
}

/** Parts of `components` while they are collected, by name. */
export interface Components {
  /** Every schema with an id. */
  readonly schemas: Map<string, JsonObject>;
  /** The example of every error. */
  readonly examples: Map<string, JsonObject>;
}

/**
 * Converts a schema.
 *
 * @param io whether clients write it (`input`) or read it (`output`)
 * @param components receives the schemas that are named
 * @returns the schema, or a reference where it is named
 * @throws {TypeError} when two different schemas have one name
 */
export function schemaOf(
  schema: z.ZodType,
  io: "input" | "output",
  components: Components,
): JsonObject {
  // A named schema becomes a reference only inside another one.
  const { properties, $defs } = z.toJSONSchema(z.object({ schema }), {
    target: "draft-2020-12",
    io,
    override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema, io),
  });
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const converted = relink(toJsonObject(definition));
    const known = components.schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(converted)) {
      throw new TypeError(`Cannot name a schema as another has the name: ${name}`);
    }
    components.schemas.set(name, converted);
  }
  const converted = properties?.schema;
  if (typeof converted !== "object") {
    throw new TypeError("Cannot convert a schema as the converter gave none");
  }
  return relink(toJsonObject(converted));
}

/** Fields that replace the generated ones: `schema.meta({ documented: { type: "integer" } })`. */
const Documented = z.record(z.string(), z.json());

function simplify(
  schema: z.core.$ZodTypes,
  json: z.core.JSONSchema.BaseSchema,
  io: "input" | "output",
): void {
  const def = schema._zod.def;
  const meta = z.globalRegistry.get(schema);
  if (meta?.documented !== undefined) {
    for (const name of Object.keys(json)) delete json[name];
    Object.assign(json, Documented.parse(meta.documented));
  }
  delete json.id;
  // a copy of a named schema says nothing but what it says of itself
  if (json.$ref !== undefined) {
    for (const name of Object.keys(json)) {
      if (name !== "$ref" && name !== "description") delete json[name];
    }
  }
  // Clients must live with fields that are added later.
  if (io === "output" && json.additionalProperties === false) delete json.additionalProperties;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  // The library's patterns spell out leap years; the format says it in one word.
  if ("format" in def && (def.format === "date" || def.format === "datetime")) delete json.pattern;
  // The library leaves defaults of converted values out.
  if (io === "input" && def.type === "default" && typeof def.defaultValue === "number") {
    json.default = def.defaultValue;
  }
}

/** References point into the document instead of into one schema. */
function relink(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) => {
    if (name !== "$ref" || typeof value !== "string") return value;
    return value.replace(/^#\/\$defs\//, "#/components/schemas/");
  });
}
