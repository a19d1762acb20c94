/** What stands in the place of a secret. */
export const redacted = '[redacted]';

/**
 * Shapes of secrets that may turn up in the words of others (an exec plugin, a proxy, an AWS error), whatever they are:
 * credentials in headers, in URLs and in query strings, JSON Web Tokens, AWS keys, EKS tokens.
 */
const shapes: readonly (readonly [RegExp, string])[] = [
  [
    /\b(authorization|proxy-authorization|x-amz-security-token|cookie)(["']?\s*[:=]\s*["']?)[^\r\n"']+/gi,
    `$1$2${redacted}`,
  ],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${redacted}`],
  [/\beyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?/g, redacted],
  [/\bk8s-aws-v1\.[\w-]+/g, redacted],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b/g, redacted],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s:@]*(?::[^/\s@]*)?@/gi, `$1${redacted}@`],
  [
    /(?<![A-Za-z])((?:x-amz-)?(?:signature|credential|security-token)|access_?token|id_?token|refresh_?token|token|password|passwd|secret(?:_?access_?key)?|client_?secret|api_?key)(["']?\s*[:=]\s*["']?)[^\s&"',;}]{4,}/gi,
    `$1$2${redacted}`,
  ],
];

/** Takes secrets out of a text: those it was told, and what looks like one. */
export type Redact = (text: string) => string;

export interface Redactor {
  readonly redact: Redact;
  /** From now on this text is a secret, wherever it appears. Texts of fewer than four characters are not kept. */
  add(secret: string | undefined): void;
}

/** Controls other than line ends and tabs, and marks that change the direction of text: nothing that a message needs. */
const unprintable = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}]/gu;

export function createRedactor(): Redactor {
  const known = new Set<string>();
  return {
    add: (secret) => {
      if (secret !== undefined && secret.trim().length >= 4) known.add(secret.trim());
    },
    redact: (text) => {
      let result = text;
      for (const secret of known) {
        result = result.split(secret).join(redacted);
        const encoded = encodeURIComponent(secret);
        if (encoded !== secret) result = result.split(encoded).join(redacted);
      }
      for (const [shape, replacement] of shapes) result = result.replace(shape, replacement);
      return result.replace(unprintable, '');
    },
  };
}
