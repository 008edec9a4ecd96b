import { isReady, lineOf } from "./doctor/finding.ts";
import { judge } from "./doctor/judge.ts";
import { redactor } from "./doctor/redact.ts";
import { seeInstallation } from "./doctor/see_installation.ts";
import type { Env, Output } from "./command.ts";

/**
 * Checks an installation against "Before the first real money" (docs/operations.md). Works while the
 * service does not run or refuses to start, and changes nothing.
 *
 * @param env variables of the service
 * @returns the exit code: 0 nothing is missing, 1 something is, or could not be checked
 */
export async function doctorCommand(
  env: Env,
  out: Output,
): Promise<number> {
  const findings = judge(await seeInstallation(env));
  const redact = redactor(env);
  for (const finding of findings) out.log(redact(lineOf(finding)));
  const count = (state: string) => findings.filter((one) => one.state === state).length;
  out.log(
    `\n${count("ok")} ok, ${count("missing")} missing, ${count("unknown")} that could not be ` +
      `checked, ${
        count("by hand")
      } to confirm by hand (docs/operations.md, "Before the first real money").`,
  );
  return isReady(findings) ? 0 : 1;
}
