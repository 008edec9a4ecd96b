import { z } from "zod";
import type { Config } from "../../config/config.ts";
import { readCredentials } from "../../development/demo_accounts.ts";
import { descriptorsWanted } from "../../http/connection_bounds.ts";
import { countDescriptors } from "../../http/descriptors.ts";
import {
  type DescriptorFacts,
  type FrontFacts,
  look,
  type Seen,
  type ServiceFacts,
  unseen,
} from "./facts.ts";

/** Bound of each request, milliseconds. */
const BOUND_MS = 6_000;

const Ready = z.object({ status: z.string(), reasons: z.array(z.string()).default([]) });

/** Asks the service, where operators do. */
export async function seeService(config: Config): Promise<ServiceFacts> {
  const url = await operatorsUrl(config);
  const ready = await look(BOUND_MS, async (signal) => {
    const response = await fetch(`${url}/readyz`, { signal });
    return Ready.parse(await response.json());
  });
  return { url, ready };
}

/** The address of health and metrics. */
async function operatorsUrl({ ops, host, port, dataDir, environment }: Config): Promise<string> {
  if (ops === null && environment === "development") {
    const credentials = await look(BOUND_MS, () => readCredentials(dataDir));
    if (credentials.ok && credentials.value !== null) return credentials.value.baseUrl;
  }
  const place = ops ?? { host, port };
  const isAny = place.host === "0.0.0.0" || place.host === "::";
  const name = isAny ? "127.0.0.1" : place.host.includes(":") ? `[${place.host}]` : place.host;
  return `http://${name}:${place.port}`;
}

/** The limit of descriptors: the service's own where it runs. */
export async function seeDescriptors(config: Config, url: string): Promise<Seen<DescriptorFacts>> {
  const told = await look(BOUND_MS, async (signal) => {
    const response = await fetch(`${url}/metrics`, { signal });
    return /^process_max_fds (\d+)$/m.exec(await response.text())?.[1] ?? null;
  });
  if (told.ok && told.value !== null) {
    return { ok: true, value: { limit: Number(told.value), isService: true } };
  }
  return await look(
    BOUND_MS,
    () => Promise.resolve({ limit: countDescriptors(descriptorsWanted(config)), isService: false }),
  );
}

/** Asks at `PUBLIC_URL`, as clients do; any answer over TLS proves the certificate. */
export async function seeFront({ publicUrl }: Config): Promise<Seen<FrontFacts>> {
  if (publicUrl === null || !publicUrl.startsWith("https:")) {
    return unseen("PUBLIC_URL is not set to an https address");
  }
  return await look(BOUND_MS, async (signal) => {
    const response = await fetch(`${publicUrl}/metrics`, { signal, redirect: "manual" });
    const text = response.ok ? await response.text() : "";
    if (!response.ok) await response.body?.cancel();
    return { status: response.status, showsMetrics: text.includes("# HELP ") };
  });
}
