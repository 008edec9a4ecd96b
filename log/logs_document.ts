import { EVENTS, type Level } from "./event_table.ts";
import { LASTING } from "./lasting_events.ts";

/** The text of `docs/logs.md`. */
export function logsDocument(): string {
  const rows = Object.entries<readonly [Level, string]>(EVENTS).map(([name, [level, words]]) => {
    const fields = [...words.matchAll(/\{(\w+)\}/g)].map(([, field]) => `\`${field}\``);
    return `| \`${name}\` | ${level} | ${words.replaceAll(/\{(\w+)\}/g, "$1")} | ${
      fields.join(", ")
    } | ${onceFor(name)} |`;
  });
  return `# Log

Made by \`deno task logs\` of \`log/event_table.ts\` and \`log/lasting_events.ts\`. Outside of development a line is one
JSON object: \`@timestamp\`, \`level\` (\`LOG_LEVEL\` is the least that is written), \`logger\`, \`message\` for people, \`event\`
and its fields for machines. Events and fields keep their names; words may change.

An event with fields under "Once for" is met at each poll while its cause lasts. It is written when that begins, and
while these fields stay the same with pauses of 1, 2, 4, 8 and then 10 minutes, with \`left_out\`: how often it was met
in between. After two minutes without it, the next one is new. \`LOG_LEVEL=debug\` writes each.

| Field | Meaning |
|---|---|
| \`payment\` | a deposit, withdrawal or settlement (\`dep_\`, \`wd_\`, \`stl_\`) |
| \`merchant\` | the merchant it belongs to |
| \`transfer\` | a transaction of the service's own, whatever for (\`out_\`) |
| \`callback\` | an event for a merchant (\`evt_\`) |
| \`network\`, \`currency\`, \`amount\`, \`txid\` | as in the API |
| \`reason\` | why, in words; of an error its name and message |
| \`stack\` | where, only of an error that is a fault of the program |

Alerts go by metrics ([alerts.yml](alerts.yml)); the log has the names of what they count.

| Event | Level | Words | Fields | Once for |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

/** The subject that an event is written once for; empty: it is written each time. */
function onceFor(name: string): string {
  const fields = Object.entries(LASTING).find(([event]) => event === name)?.[1];
  if (fields === undefined) return "";
  return fields.length === 0 ? "itself" : fields.map((field) => `\`${field}\``).join(", ");
}
