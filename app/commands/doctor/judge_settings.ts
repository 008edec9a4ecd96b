import type { Config } from "../../config/config.ts";
import type { Facts } from "./facts.ts";
import { byHand, type Finding, missing, ok, orWell, unknown } from "./finding.ts";

/** Fewer different characters are no random secret. */
const LEAST_VARIETY = 10;
/** Bits of group and others that the data folder must not have. */
const OTHERS = 0o077;

/** Judges the environment, its secrets and the data folder. */
export function judgeSettings(facts: Pick<Facts, "settings" | "folder">): readonly Finding[] {
  const { environment, faults, config } = facts.settings;
  return [
    environmentPoint(environment, config.isRehearsal),
    ...orWell(
      faults.map((fault) => missing("settings", fault, "see it in .env.example")),
      "settings",
      "every variable is well-formed, and none is missing",
    ),
    secretsPoint(config),
    folderPoint(facts.folder, config.dataDir),
  ];
}

function environmentPoint(environment: Config["environment"], isRehearsal: boolean): Finding {
  if (environment === "production") return ok("environment", "production");
  if (environment === "staging") {
    return byHand(
      "environment",
      isRehearsal
        ? "a rehearsal: test networks may be development chains"
        : "staging has the rules of production",
      "ENVIRONMENT=production where money is real",
    );
  }
  return missing(
    "environment",
    "development is not for real money, or this shell does not have the service's variables",
    "set ENVIRONMENT=production, and export all variables of the service before this command",
  );
}

function secretsPoint({ sessionSecret, ingestSecret, callbackSecrets }: Config): Finding {
  const named = {
    SESSION_SECRET: sessionSecret,
    INGEST_SECRET: ingestSecret,
    CALLBACK_SECRETS_KEY: callbackSecrets.current,
  };
  const set = Object.entries(named).flatMap(([name, secret]) =>
    secret === null ? [] : [{ name, text: secret.reveal() }]
  );
  const mend = "make each by: openssl rand -hex 32";
  const poor = set.filter(({ text }) => new Set(text).size < LEAST_VARIETY);
  if (poor.length > 0) {
    const names = poor.map(({ name }) => name).join(", ");
    return missing("secrets", `not random, or nearly so: ${names}`, mend);
  }
  const twice = set.filter(({ text }, at) =>
    set.some((other, i) => i !== at && other.text === text)
  );
  if (twice.length > 0) {
    const names = twice.map(({ name }) => name).join(", ");
    return missing("secrets", `the same text twice: ${names}`, mend);
  }
  const absent = Object.keys(named).filter((name) => !set.some((one) => one.name === name));
  return absent.length === 0
    ? ok("secrets", "set, random and different")
    : missing("secrets", `not set: ${absent.join(", ")}`, mend);
}

function folderPoint(folder: Facts["folder"], dataDir: string): Finding {
  if (!folder.ok) {
    return missing(
      "data folder",
      `${dataDir}: ${folder.reason}`,
      `install -d -m 700 ${dataDir}, as the service's user`,
    );
  }
  const { path, mode, isOwn } = folder.value;
  if (!isOwn) {
    return missing(
      "data folder",
      `it is another user's: ${path}`,
      "a DATA_DIR that is the service's own (install -d -m 700 as its user), this command run as that user",
    );
  }
  if (mode === null || (mode & OTHERS) === 0) return ok("data folder", path);
  return missing(
    "data folder",
    `other users may enter it: ${path} (${mode.toString(8)})`,
    `chmod 700 ${path}`,
  );
}

/** Judges everything between clients and the service. */
export function judgeDoors(
  facts: Pick<Facts, "settings" | "front" | "descriptors">,
  wanted: number,
): readonly Finding[] {
  const { config } = facts.settings;
  return [
    tlsPoint(facts.front, config),
    ...orWell(proxyFaults(config.trustedProxies), "proxies", config.trustedProxies.join(", ")),
    listeningPoint(config),
    operatorsPoint(config, facts),
    config.apiDocs
      ? byHand(
        "reference",
        "API_DOCS is on: all who reach the service see it",
        "API_DOCS=off unless merchants need it",
      )
      : ok("reference", "API_DOCS=off"),
    descriptorsPoint(facts.descriptors, wanted),
  ];
}

function tlsPoint(front: Facts["front"], { publicUrl }: Config): Finding {
  if (front.ok && front.value.status >= 500) {
    return missing(
      "tls",
      `${publicUrl} answers ${front.value.status}: the proxy does not reach the service`,
      "start the service, and let the proxy forward to HOST and PORT",
    );
  }
  if (front.ok) return ok("tls", `${publicUrl} answers with a certificate that is trusted`);
  const text = publicUrl === null ? "PUBLIC_URL is not set" : `${publicUrl}: ${front.reason}`;
  return missing(
    "tls",
    text,
    "let a proxy with a trusted certificate answer there, PUBLIC_URL=https://...; for an authority of " +
      "your own DENO_CERT=<its certificate> before this command",
  );
}

function proxyFaults(proxies: readonly string[]): readonly Finding[] {
  if (proxies.length === 0) {
    return [missing(
      "proxies",
      "TRUSTED_PROXIES is not set: all clients behind the proxy count as one",
      "TRUSTED_PROXIES=<address of the proxy>",
    )];
  }
  return proxies.filter((range) => range.endsWith("/0")).map((range) =>
    missing(
      "proxies",
      `TRUSTED_PROXIES has ${range}: every client says itself which address it has`,
      "name the proxies' own addresses",
    )
  );
}

function listeningPoint({ host, port }: Config): Finding {
  const isAny = host === "0.0.0.0" || host === "::";
  return isAny
    ? byHand(
      "listening",
      `HOST is ${host}: every machine that reaches port ${port} goes around the proxy`,
      "HOST=<an address that only the proxy reaches>, or a firewall",
    )
    : ok("listening", `${host}, port ${port}`);
}

function operatorsPoint(
  { ops, publicUrl }: Config,
  { front, settings }: Pick<Facts, "front" | "settings">,
): Finding {
  const mend = "OPS_HOST=127.0.0.1 and OPS_PORT=<port>, forwarded by no proxy";
  if (front.ok && front.value.showsMetrics) {
    return missing("operators", `everybody reads ${publicUrl}/metrics`, mend);
  }
  if (ops === null) {
    return settings.faults.length > 0 && settings.environment !== "development"
      ? unknown("operators", "the settings have to be mended first")
      : missing("operators", "health and metrics are served beside the API", mend);
  }
  const isAny = ops.host === "0.0.0.0" || ops.host === "::";
  return isAny
    ? byHand(
      "operators",
      `OPS_HOST is ${ops.host}: only operators may reach port ${ops.port}`,
      mend,
    )
    : ok("operators", `health and metrics at ${ops.host}, port ${ops.port}`);
}

function descriptorsPoint(descriptors: Facts["descriptors"], wanted: number): Finding {
  if (!descriptors.ok) return unknown("descriptors", descriptors.reason);
  const { limit, isService } = descriptors.value;
  const whose = isService ? "the service" : "this shell (the service does not tell its own)";
  if (limit >= wanted) return ok("descriptors", `${whose} has ${wanted} or more`);
  return missing(
    "descriptors",
    `${whose} has ${limit} of the ${wanted} that MAX_CONNECTIONS needs`,
    "LimitNOFILE=65536 in the unit, --ulimit nofile=65536 of a container",
  );
}
