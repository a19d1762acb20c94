import { existsSync } from 'node:fs';

export const chromiumFlags: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium from `CHROMIUM`, or where Linux distributions put it. */
export function chromiumPath(): string {
  const candidates = [
    process.env['CHROMIUM'] ?? '',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  const found = candidates.find((each) => each !== '' && existsSync(each));
  if (found === undefined) {
    throw new Error(
      'Chromium was not found. Install it (Debian, Ubuntu: apt-get install chromium) or set CHROMIUM.',
    );
  }
  return found;
}
