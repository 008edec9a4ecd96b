/**
 * Comparison of responses with the API reference, field by field: what is not documented fails.
 *
 * @module
 */

import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import { openApiDocument } from "../../api/openapi/document.ts";
import { OPERATIONS } from "../../api/routes.ts";
import type { Called } from "./api.ts";
import { resolvedReference } from "./resolved_reference.ts";

/** The reference as it is committed; a test compares it with the routes and schemas. */
const COMMITTED = new URL("../../docs/openapi.json", import.meta.url);

const Schema = z.record(z.string(), z.unknown());

const Content = z.record(
  z.string(),
  z.object({
    schema: Schema,
    example: z.unknown().optional(),
    examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
  }),
);

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        responses: z.record(z.string(), z.object({ content: Content.optional() })),
      }),
    ),
  ),
  webhooks: z.record(
    z.string(),
    z.object({ post: z.object({ requestBody: z.object({ content: Content }) }) }),
  ),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
});

const document = Document.parse(resolvedReference(readReference()));

/** The committed reference: to make it anew takes longer than most tests, in each of their files. */
function readReference(): unknown {
  const read = Deno.permissions.querySync({ name: "read", path: COMMITTED });
  if (read.state !== "granted") return openApiDocument(OPERATIONS);
  return JSON.parse(Deno.readTextFileSync(COMMITTED));
}

const ajv = new Ajv2020({ strict: false, allErrors: true, unicodeRegExp: true });
addFormats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

/** Name under which the validator knows the components: it would read all of them for each answer. */
const REFERENCE = "reference";

/** Objects take the documented fields and no others, and name components as the validator knows them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) =>
    name === "$ref" ? [name, REFERENCE + inner] as const : [name, closed(inner)] as const
  );
  const schema = Object.fromEntries(entries);
  return "properties" in value && !("additionalProperties" in value) && "type" in value
    ? { ...schema, additionalProperties: false }
    : schema;
}

ajv.addSchema({ $id: REFERENCE, components: closed(document.components) });

/** The validator of a schema; many answers have the same one, and each takes a while to be made. */
function validator(schema: z.infer<typeof Schema>): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const made = ajv.compile(Schema.parse(closed(schema)));
  compiled.set(text, made);
  return made;
}

function faultsOf(name: string, schema: z.infer<typeof Schema>, body: unknown): string[] {
  const validate = validator(schema);
  if (validate(body)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    `${name}: ${instancePath || "body"} ${message} ${JSON.stringify(params)}`
  );
}

const TEMPLATES = Object.keys(document.paths)
  .toSorted((a, b) => Number(a.includes("{")) - Number(b.includes("{")))
  .map((template) => ({
    template,
    pattern: new RegExp(
      `^${template.split(/\{\w+\}/).map((part) => RegExp.escape(part)).join("[^/]+")}$`,
    ),
  }));

/**
 * Faults of a response, as sentences; empty when it is documented.
 *
 * @param path as it was requested, with its query
 */
export function responseFaults(method: string, path: string, called: Called): string[] {
  const { pathname } = new URL(path, "http://localhost");
  const template = TEMPLATES.find(({ pattern }) => pattern.test(pathname))?.template;
  const common = commonFaults(called);
  if (template === undefined) {
    return [...common, ...expectBare(called, 404, "Not found", `no route ${pathname}`)];
  }
  const lower = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = document.paths[template]?.[lower];
  if (operation === undefined) {
    return [
      ...common,
      ...expectBare(called, 405, "Method not allowed", `no ${method} ${template}`),
    ];
  }
  const name = `${method} ${template} ${called.status}`;
  const response = operation.responses[String(called.status)];
  if (response === undefined) {
    return [...common, `${name} is not documented: ${JSON.stringify(called.body)}`];
  }
  if (response.content === undefined) {
    return called.body === "" ? common : [...common, `${name} has a body that is not documented`];
  }
  const isPage = called.headers.get("content-type")?.startsWith("text/html") === true;
  if (isPage && response.content["text/html"] !== undefined) return common;
  const schema = response.content["application/json"]?.schema;
  if (schema === undefined || method === "HEAD") return common;
  return [...common, ...faultsOf(name, schema, called.body)];
}

function commonFaults({ headers, status, body }: Called): string[] {
  const faults = [];
  if (!/^req_[0-9a-f]{32}$/.test(headers.get("x-request-id") ?? "")) {
    faults.push("X-Request-Id is missing");
  }
  if (headers.get("x-content-type-options") !== "nosniff") faults.push("nosniff is missing");
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  if (status >= 400 && typeof body !== "object" && !isPage) faults.push("an error is not JSON");
  if (status === 429 && headers.get("retry-after") === null) faults.push("no Retry-After");
  return faults;
}

function expectBare(called: Called, status: number, error: string, why: string): string[] {
  const { body } = called;
  const isRight = called.status === status && body.error === error;
  return isRight ? [] : [`${why}, but the answer is ${called.status} ${JSON.stringify(body)}`];
}

/** Examples of answers that their own schema in the document refuses. */
export function exampleFaults(): string[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { content }]) => {
        const json = content?.["application/json"];
        if (json === undefined) return [];
        const name = `${method.toUpperCase()} ${path} ${status}`;
        const examples = Object.values(json.examples ?? {}).map(({ value }) => value);
        if (json.example !== undefined) examples.push(json.example);
        return examples.flatMap((example) => faultsOf(name, json.schema, example));
      })
    )
  );
}

/** Faults of the body of an event; empty when it is documented. */
export function eventFaults(event: string, body: unknown): string[] {
  const schema = document.webhooks[event]?.post.requestBody.content["application/json"]?.schema;
  return schema === undefined ? [`${event} is not documented`] : faultsOf(event, schema, body);
}
