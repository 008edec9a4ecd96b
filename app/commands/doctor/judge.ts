import { descriptorsWanted } from "../../http/connection_bounds.ts";
import type { Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { judgeChains, judgeService, openNetworks, pointsByHand } from "./judge_chains.ts";
import { judgeDatabase } from "./judge_database.ts";
import { judgeRates } from "./judge_rates.ts";
import { judgeKeys } from "./judge_keys.ts";
import { judgeBooks, judgePeople } from "./judge_people.ts";
import { judgeDoors, judgeSettings } from "./judge_settings.ts";

/** Judges every point of the checklist. Pure: facts in, findings out, in the order of the page. */
export function judge(facts: Facts): readonly Finding[] {
  const { config } = facts.settings;
  const { database } = facts;
  return [
    ...judgeSettings(facts),
    ...judgeDoors(facts, descriptorsWanted(config)),
    ...judgeDatabase(database, config),
    ...judgeKeys({ ...facts, networks: openNetworks(config), socket: config.signer.socket }),
    ...judgeChains(facts, config),
    judgeRates(facts),
    ...judgeBooks(database, config, facts.now),
    judgePeople(database, config),
    ...judgeService(facts),
    ...pointsByHand(),
  ];
}
