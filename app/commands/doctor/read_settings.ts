import { type Config, type Environment, loadConfig } from "../../config/config.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** An environment as far as it can be read, with its faults. */
export interface Settings {
  readonly environment: Environment;
  /** Each names its variable and never its value. */
  readonly faults: readonly string[];
  /** A variable at fault counts as not set. */
  readonly config: Config;
}

/** Defaults outside development that differ from those in it. */
const LIVE: Env = { HOST: "0.0.0.0", FOUR_EYES: "persons" };

/**
 * Reads settings that the service would refuse, so that everything else can be checked nevertheless. In
 * development it names what production would lack.
 */
export function readSettings(env: Env): Settings {
  const environment = environmentOf(env);
  const isDevelopment = environment === "development";
  const wanted = loadConfig(isDevelopment ? { ...env, ENVIRONMENT: "production" } : env);
  const faults = wanted.ok ? [] : wanted.faults;
  if (wanted.ok && !isDevelopment) return { environment, faults, config: wanted.config };
  return { environment, faults, config: { ...lenient(env, isDevelopment), environment } };
}

/** One that is misspelled counts as production, or the checks would be those of development. */
function environmentOf({ ENVIRONMENT: text = "" }: Env): Environment {
  if (text.trim() === "" || text === "development") return "development";
  return text === "staging" ? "staging" : "production";
}

/** The settings without the variables that are at fault. */
function lenient(env: Env, isDevelopment: boolean): Config {
  const set = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== "");
  // development needs no variable, so that none is reported as missing
  let given: Env = {
    ...(isDevelopment ? {} : LIVE),
    ...Object.fromEntries(set),
    ENVIRONMENT: "development",
  };
  for (;;) {
    const answer = loadConfig(given);
    if (answer.ok) return answer.config;
    const named = new Set(answer.faults.flatMap((fault) => fault.split(/[^A-Za-z0-9_]+/)));
    given = without(given, (name) => named.has(name)) ??
      // of a cold wallet's levels a fault names only the variable that lacks
      without(given, (name) => /_(CEILING|TARGET)$/.test(name)) ??
      { ENVIRONMENT: "development" };
  }
}

/** The variables but some; null where that is none. */
function without(env: Env, isLeftOut: (name: string) => boolean): Env | null {
  const all = Object.entries(env);
  const kept = all.filter(([name]) => !isLeftOut(name));
  return kept.length < all.length ? Object.fromEntries(kept) : null;
}
