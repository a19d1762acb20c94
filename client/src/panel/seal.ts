import { createCipheriv, randomBytes } from 'node:crypto';
import type { Sealed } from '../../../server/src/protocol/panel';

/** A key of this session, which the server gets in its environment. */
export function createSealKey(): Buffer {
  return randomBytes(32);
}

/** Encrypts a secret for the server; see {@link Sealed}. */
export function seal(secret: string, key: Buffer): Sealed {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64') };
}
