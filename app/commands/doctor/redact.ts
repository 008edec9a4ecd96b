type Env = Readonly<Record<string, string | undefined>>;

/** Shorter texts occur by chance, and are no secrets of a live installation. */
const SHORTEST = 6;

/**
 * Makes what takes an environment's secrets out of a text: other programs' errors may repeat what they
 * were given.
 */
export function redactor(env: Env): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) => secretsIn(name, value))
    .filter((secret) => secret.length >= SHORTEST)
    // a secret that is part of another one must not leave the rest of that
    .toSorted((a, b) => b.length - a.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, "[secret]"), text);
}

function secretsIn(name: string, value: string): string[] {
  if (/(SECRET|KEYS?)$/.test(name)) return value.split(",").map((part) => part.trim());
  if (!/_URLS?$/.test(name) || name === "PUBLIC_URL") return [];
  const passwords = [...value.matchAll(/:\/\/[^/@]*?:([^/@]*)@/g)].map(([, found = ""]) => found);
  // providers of nodes have their keys in the path; a database's name is no secret
  const isOfNodes = name.endsWith("_NODE_URLS");
  const queries = isOfNodes
    ? [...value.matchAll(/[?&][^=&,\s]*=([^&,\s]+)/g)].map(([, found = ""]) => found)
    : [];
  const paths = isOfNodes
    ? [...value.matchAll(/:\/\/[^/,\s]+\/([^,\s]+)/g)].map(([, found = ""]) => found)
    : [];
  return [...passwords, ...passwords.flatMap(decoded), ...paths, ...queries];
}

function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    // a percent sign that begins no escape
    return [];
  }
}
