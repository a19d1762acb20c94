import { createDecipheriv } from 'node:crypto';
import { isFields } from './params';

/** Decrypts what the client sealed with the key that it gave this process; nothing when it is not that. */
export function unseal(value: unknown, key: Buffer | undefined): string | undefined {
  if (key === undefined || !isFields(value) || typeof value['sealed'] !== 'string') return undefined;
  const bytes = Buffer.from(value['sealed'], 'base64');
  if (bytes.length < 28) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/**
 * The key from the environment, which it is taken out of: programs that are started later, such as credential plugins,
 * must not see it.
 */
export function takeSealKey(
  environment: Record<string, string | undefined>,
  variable: string,
): Buffer | undefined {
  const text = environment[variable];
  delete environment[variable];
  const key = text === undefined ? undefined : Buffer.from(text, 'base64');
  return key?.length === 32 ? key : undefined;
}
