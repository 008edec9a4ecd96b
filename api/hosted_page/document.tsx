/**
 * The frame of every hosted page: head, merchant, language switch, and the files it carries.
 *
 * @module
 */

import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { BrandMark } from "./values.tsx";
import { type Language, LANGUAGES } from "./language.ts";
import SCRIPT from "./page.js" with { type: "text" };
import SHEET from "./page.css" with { type: "text" };

const STYLE = SHEET.replaceAll(/\s+/g, " ");

/** The script and the style sheet as they stand in the page, for its policy. */
export const INLINE = { script: SCRIPT, style: STYLE } as const;

export interface DocumentProps {
  readonly title: string;
  readonly language: Language;
  /** The payee; null where it is not known. */
  readonly merchant: { readonly name: string; readonly logoColor: string | null } | null;
  readonly reseller: string | null;
  readonly referenceId: string | null;
  readonly isTest: boolean;
  /** Address of the page in a language, relative to itself; null: there is no switch. */
  readonly inLanguage: ((language: Language) => string) | null;
  readonly hasScript: boolean;
  readonly children: Child;
}

/** A whole document, ready to be sent. */
export function renderDocument(props: DocumentProps): string {
  return `<!doctype html>${<Document {...props} />}`;
}

function Document(props: DocumentProps) {
  const { language, merchant, reseller } = props;
  const texts = LANGUAGES[language];
  return (
    <html lang={language} dir={texts.direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="format-detection" content="telephone=no" />
        <meta name="color-scheme" content="light dark" />
        <title>{props.title}</title>
        <link rel="icon" href="data:," />
        <style>{raw(STYLE)}</style>
      </head>
      <body>
        {props.isTest && <p class="test" role="note">{texts.test}</p>}
        <div class="page">
          {merchant !== null && (
            <header class="shop">
              <BrandMark name={merchant.name} color={merchant.logoColor} />
              <p>
                <span>{texts.payTo}</span>
                <strong>
                  <bdi>{merchant.name}</bdi>
                </strong>
              </p>
              {props.referenceId !== null && (
                <p class="reference">
                  <span>{texts.order}</span>
                  <bdi>{props.referenceId}</bdi>
                </p>
              )}
            </header>
          )}
          {props.children}
          <footer>
            {props.inLanguage !== null && (
              <LanguageSwitch current={language} inLanguage={props.inLanguage} />
            )}
            {reseller !== null && <p>{texts.providedBy(reseller)}</p>}
          </footer>
        </div>
        {props.hasScript && <script>{raw(SCRIPT)}</script>}
      </body>
    </html>
  );
}

function LanguageSwitch(
  { current, inLanguage }: {
    readonly current: Language;
    readonly inLanguage: (language: Language) => string;
  },
) {
  return (
    <nav class="languages" aria-label={LANGUAGES[current].switchLanguage}>
      {Object.entries(LANGUAGES).map(([code, { name }]) =>
        code === current
          ? <span aria-current="true" lang={code}>{name}</span>
          : <a href={inLanguage(code as Language)} lang={code} hreflang={code}>{name}</a>
      )}
    </nav>
  );
}
