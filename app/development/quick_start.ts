import type { DevCredentials } from "./demo_accounts.ts";

/** What a first-time user reads: where everything is, and lines to paste. */
export function quickStart(credentials: DevCredentials, dataDir: string): string {
  const { baseUrl, merchant, admin, chains } = credentials;
  const chain = chains["TRX"];
  const nodes = Object.entries(chains).map(([name, { url }]) => `  ${name.padEnd(12)}${url}`);
  return `
Ready: ${baseUrl}   (development; credentials in ${dataDir}/dev-credentials.json)

  merchant    ${merchant.id}
  key         ${merchant.apiKey}
  read only   ${merchant.readOnlyKey}
  admin key   ${admin.apiKey}
${nodes.join("\n")}

Try it (needs curl):

  export KEY=${merchant.apiKey}

  # 1. a deposit address for your customer
  curl -s ${baseUrl}/api/deposit-address -H "Authorization: $KEY" -H 'Content-Type: application/json' \\
    -d '{"network":"TRX","identifier":"customer-1","referenceId":"order-1"}'

  # 2. pay it on the development chain (put the address in)
  curl -s ${chain?.url}/dev/transfer -d '{"to":"<address>","amount":"100","currency":"USDT"}'

  # 3. PENDING after about 1 s, CONFIRMED after about 4 s
  curl -s ${baseUrl}/api/deposits -H "Authorization: $KEY"
  curl -s "${baseUrl}/api/balance?currency=USDT&network=TRX" -H "Authorization: $KEY"

  # 4. pay 10 USDT out
  curl -s ${baseUrl}/api/withdrawals -H "Authorization: $KEY" -H 'Content-Type: application/json' \\
    -d '{"amount":"10","currency":"USDT","network":"TRX","destination":"${chain?.faucetAddress}","referenceId":"payout-1"}'
  curl -s ${baseUrl}/api/withdrawals -H "Authorization: $KEY"
`;
}
