import { createHash, createHmac } from 'node:crypto';
import type { Received } from './loopback';

export interface Secret {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Verifies a Signature Version 4 from what arrived, as AWS documents it
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Answers what is wrong,
 * or nothing. It shares no code with what signs.
 */
export function signatureFault(
  { method, path, query, headers, body }: Received,
  secret: Secret,
  expected: { readonly region: string; readonly service: string },
): string | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    );
  if (match === null) return `no signature: ${headers['authorization'] ?? 'no header'}`;
  const [, key = '', date = '', region = '', service = '', signed = '', signature = ''] = match;
  if (key !== secret.accessKeyId) return `key ${key}`;
  if (region !== expected.region || service !== expected.service) return `scope ${region}/${service}`;
  const time = headers['x-amz-date'] ?? '';
  if (!/^\d{8}T\d{6}Z$/.test(time) || !time.startsWith(date)) return `date ${time}`;
  const names = signed.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date')) return `signed headers ${signed}`;
  if (secret.sessionToken !== undefined) {
    if (headers['x-amz-security-token'] !== secret.sessionToken) return 'session token';
    if (!names.includes('x-amz-security-token')) return 'the session token is not signed';
  }
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hmac = (by: string | Buffer, text: string): Buffer => createHmac('sha256', by).update(text).digest();
  const encoded = (text: string): string =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const canonical = [
    method,
    path
      .split('/')
      .map((part) => encoded(part))
      .join('/'),
    [...query]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/\s+/g, ' ')}`),
    '',
    signed,
    headers['x-amz-content-sha256'] ?? sha(body),
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha(canonical)].join('\n');
  const signingKey = ['aws4_request'].reduce(
    hmac,
    [date, region, service].reduce<string | Buffer>(hmac, `AWS4${secret.secretAccessKey}`) as Buffer,
  );
  const wanted = createHmac('sha256', signingKey).update(text).digest('hex');
  return wanted === signature ? undefined : `signature of\n${canonical}`;
}
