import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SourceError, firstLine } from './failure';
import type { Redactor } from './redact';
import type { Clock } from './runtime';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** Asks for credentials; called before each use, so it keeps them as long as they hold. */
export type CredentialProvider = () => Promise<AwsCredentials>;

/** Who asks AWS, and where. */
export interface AwsAccess {
  readonly region: string;
  /** The profile of the AWS configuration; without one, what the AWS SDKs find by themselves. */
  readonly profile?: string | undefined;
  /** In the place of what the profile or the environment says. */
  readonly credentials?: CredentialProvider | undefined;
}

/**
 * Credentials as the AWS SDKs find them: environment, SSO, web identity, configuration files, container, instance.
 * Nothing is looked for before the first call. Failures are {@link SourceError}s; the redactor learns each secret.
 */
export function credentialsOf(
  { profile, credentials }: AwsAccess,
  { add, redact }: Redactor,
): CredentialProvider {
  let provider = credentials;
  return async () => {
    try {
      if (provider === undefined) {
        quietSdk();
        const { defaultProvider } = await import('./sdk/aws');
        provider = defaultProvider(profile === undefined ? {} : { profile });
      }
      const found = await provider();
      add(found.secretAccessKey);
      add(found.sessionToken);
      return found;
    } catch (error) {
      const words = firstLine(redact(error instanceof Error ? error.message : String(error)));
      throw new SourceError(
        'unauthenticated',
        `there are no AWS credentials${profile === undefined ? '' : ` for profile ${profile}`}: ${words}`,
      );
    }
  };
}

/**
 * The SDK warns on the console that its later versions need a later Node. It is part of our bundle and Node is that of
 * the editor: nobody who reads the warning can do anything about it.
 */
export function quietSdk(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}

/** SHA-256 for the signer, by Node itself. */
class Sha256 {
  private hash: Hash | Hmac;

  constructor(private readonly secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = this.start();
  }

  update(data: string | ArrayBuffer | ArrayBufferView, encoding?: 'utf8' | 'ascii' | 'latin1'): void {
    if (typeof data === 'string') this.hash.update(data, encoding ?? 'utf8');
    else this.hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }

  reset(): void {
    this.hash = this.start();
  }

  private start(): Hash | Hmac {
    if (this.secret === undefined) return createHash('sha256');
    return createHmac('sha256', typeof this.secret === 'string' ? this.secret : bytesOf(this.secret));
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

export interface Signer {
  /** Headers that sign a GET of this URL, among them `authorization`. */
  sign(url: URL): Promise<Readonly<Record<string, string>>>;
}

/** Signs requests with Signature Version 4. */
export function createSigner(
  service: string,
  region: string,
  credentials: CredentialProvider,
  clock: Clock,
): Signer {
  return {
    sign: async (url) => {
      const { SignatureV4 } = await import('./sdk/aws');
      const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
      const signer = new SignatureV4({
        service,
        region,
        credentials: {
          accessKeyId,
          secretAccessKey,
          ...(sessionToken === undefined ? {} : { sessionToken }),
        },
        sha256: Sha256,
      });
      const query: Record<string, string | string[]> = {};
      for (const [name, value] of url.searchParams) {
        const known = query[name];
        query[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
      }
      const signed = await signer.sign(
        {
          method: 'GET',
          protocol: url.protocol,
          hostname: url.hostname,
          ...(url.port === '' ? {} : { port: Number(url.port) }),
          path: url.pathname,
          query,
          headers: { host: url.host },
        },
        { signingDate: new Date(clock.now()) },
      );
      return signed.headers;
    },
  };
}
