/**
 * URLs as Go's `net/url` reads them, as far as KEDA asks: whether there is one, its scheme and its path. `undefined`
 * where Go returns an error.
 */
export interface GoUrl {
  /** In lower case; empty when there is none. */
  readonly scheme: string;
  /** Not decoded. Empty for an opaque one such as an ARN. */
  readonly path: string;
}

/** `url.Parse`. */
export function parseUrl(text: string): GoUrl | undefined {
  return parse(text.replace(/#.*$/s, ''), false);
}

/** `url.ParseRequestURI`: an absolute URL or an absolute path; a `#` is part of the path. */
export function parseRequestUri(text: string): GoUrl | undefined {
  return text === '' ? undefined : parse(text, true);
}

function parse(text: string, isRequest: boolean): GoUrl | undefined {
  // eslint-disable-next-line no-control-regex -- these are what Go refuses
  if (/[\x00-\x1f\x7f]/.test(text) || text.startsWith(':')) return undefined;
  if (text === '*') return { scheme: '', path: '*' };
  const found = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
  const scheme = found?.[1]?.toLowerCase() ?? '';
  let rest = text.slice(found?.[0].length ?? 0).replace(/\?.*$/s, '');
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, path: '' };
    if (isRequest || /^[^/]*:/.test(rest)) return undefined;
  }
  if (rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')))) {
    const end = rest.indexOf('/', 2);
    const authority = rest.slice(2, end < 0 ? undefined : end);
    if (!isAuthority(authority)) return undefined;
    rest = end < 0 ? '' : rest.slice(end);
  }
  return hasWholeEscapes(rest) ? { scheme, path: rest } : undefined;
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at);
  const host = authority.slice(at + 1);
  if (!/^[\w.:~!$&'()*+,;=%@-]*$/.test(user) || !hasWholeEscapes(user)) return false;
  if (host.startsWith('[')) return /^\[[^\]]*\](?::\d*)?$/.test(host);
  const port = /:[^:]*$/.exec(host)?.[0];
  if (port !== undefined && !/^:\d*$/.test(port)) return false;
  // Of ASCII, only these stand in a host; escapes are for the others.
  // eslint-disable-next-line no-control-regex -- all of ASCII is what it says
  return /^(?:[\w.~!$&'()*+,;=:[\]<>"-]|[^\x00-\x7f]|%25|%[89a-fA-F][0-9a-fA-F])*$/.test(host);
}

function hasWholeEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}
