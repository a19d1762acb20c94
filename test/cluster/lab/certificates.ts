import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of keys and certificates of one lab; they are worth nothing outside of it. */
export interface Certificates {
  readonly ca: string;
  readonly serving: KeyPair;
  /** With which the API server shows programs behind an APIService that it is itself. */
  readonly proxyCa: string;
  readonly proxy: KeyPair;
  readonly serviceAccounts: { readonly key: string; readonly publicKey: string };
}

export interface KeyPair {
  readonly key: string;
  readonly certificate: string;
}

function openssl(...args: readonly string[]): void {
  const result = spawnSync('openssl', args, { encoding: 'utf8' });
  if (result.status !== 0)
    throw new Error(`openssl ${args.join(' ')} failed: ${result.stderr || String(result.error)}`);
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const;

function authority(folder: string, name: string): KeyPair {
  const key = join(folder, `${name}.key`);
  const certificate = join(folder, `${name}.crt`);
  openssl(
    'req',
    '-x509',
    ...curve,
    '-days',
    '30',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    key,
    '-out',
    certificate,
  );
  return { key, certificate };
}

function signed(folder: string, name: string, ca: KeyPair, extensions: string): KeyPair {
  const key = join(folder, `${name}.key`);
  const request = join(folder, `${name}.csr`);
  const certificate = join(folder, `${name}.crt`);
  const extensionFile = join(folder, `${name}.ext`);
  writeFileSync(extensionFile, extensions);
  openssl('req', ...curve, '-subj', `/CN=${name}`, '-keyout', key, '-out', request);
  openssl(
    ...['x509', '-req', '-in', request, '-days', '30', '-out', certificate, '-extfile', extensionFile],
    ...['-CA', ca.certificate, '-CAkey', ca.key, '-CAcreateserial'],
  );
  return { key, certificate };
}

/** Makes them all in a folder. */
export function makeCertificates(folder: string): Certificates {
  const ca = authority(folder, 'lab-ca');
  const proxyCa = authority(folder, 'proxy-ca');
  const key = join(folder, 'service-accounts.key');
  const publicKey = join(folder, 'service-accounts.pub');
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key);
  openssl('ec', '-in', key, '-pubout', '-out', publicKey);
  return {
    ca: ca.certificate,
    serving: signed(
      folder,
      'serving',
      ca,
      'subjectAltName=IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc\nextendedKeyUsage=serverAuth\n',
    ),
    proxyCa: proxyCa.certificate,
    proxy: signed(folder, 'front-proxy', proxyCa, 'extendedKeyUsage=clientAuth\n'),
    serviceAccounts: { key, publicKey },
  };
}
