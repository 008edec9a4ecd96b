import ipaddr from "ipaddr.js";

/**
 * The name under which a client's address is counted: an IPv6 client has a whole /64 to send from,
 * so that counts as one.
 */
export function addressBucket(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : parsed.toByteArray().slice(0, 8).join(".") + "/64";
}
