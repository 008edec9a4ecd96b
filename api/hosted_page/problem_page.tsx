/**
 * Errors of a hosted page as people read them. Programs are answered in JSON, like everywhere.
 *
 * @module
 */

import type { Answer } from "../http/answer.ts";
import { renderDocument } from "./document.tsx";
import { Icon } from "./icon.tsx";
import { chooseLanguage, LANGUAGES } from "./language.ts";
import { pageHeaders } from "./page_headers.ts";
import type { Texts, Told } from "./texts/texts.ts";

/** Whether whoever asks wants to read a page: browsers say so, programs do not. */
export function wantsPage(headers: Headers): boolean {
  return /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(headers.get("accept") ?? "");
}

/** An error as a page where one was asked for, otherwise as it is. */
export function problemPage(answer: Answer, request: { readonly headers: Headers }): Answer {
  if (!wantsPage(request.headers)) return answer;
  const language = chooseLanguage(null, request.headers.get("accept-language"));
  const texts = LANGUAGES[language];
  const { told, canRetry } = problemOf(answer.status, texts);
  const body = renderDocument({
    title: told.title,
    language,
    merchant: null,
    reseller: null,
    referenceId: null,
    isTest: false,
    inLanguage: null,
    hasScript: false,
    children: (
      <main id="main" data-state="problem" data-poll="none">
        <section class="outcome">
          <span class="badge large expired">
            <Icon name={canRetry ? "clock" : "cross"} />
          </span>
          <h1 id="title" tabindex={-1}>{told.title}</h1>
          <p>{told.detail}</p>
        </section>
        {canRetry && (
          <div class="return">
            <a class="button" href="">{texts.checkAgain}</a>
          </div>
        )}
      </main>
    ),
  });
  return { status: answer.status, body, headers: { ...answer.headers, ...pageHeaders(null) } };
}

/** What is told of an error. A page whose time is over is none: it explains itself, in its own colours. */
function problemOf(
  status: number,
  texts: Texts,
): { readonly told: Told; readonly canRetry: boolean } {
  switch (status) {
    case 400:
    case 404:
      return { told: texts.unknownPage, canRetry: false };
    case 429:
      return { told: texts.tooManyRequests, canRetry: true };
    default:
      return { told: texts.somethingWrong, canRetry: true };
  }
}
