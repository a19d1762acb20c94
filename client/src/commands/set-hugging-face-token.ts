import type { SecretStorage } from 'vscode';
import { window } from 'vscode';

const secret = 'plimsoll.huggingFaceToken';

/** The token that was set; `undefined`: that of the environment, if any, is used. */
export async function huggingFaceToken(secrets: SecretStorage): Promise<string | undefined> {
  const stored = await secrets.get(secret);
  return stored === undefined || stored === '' ? undefined : stored;
}

/** Keeps a token of the Hugging Face hub in the secret storage of VS Code; an empty one is forgotten. */
export async function setHuggingFaceToken(secrets: SecretStorage): Promise<boolean> {
  const value = await window.showInputBox({
    title: 'Hugging Face Token',
    prompt: 'Reads gated and private models. Kept in the secret storage of VS Code; empty: forget it.',
    placeHolder: 'hf_...',
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text === '' || /^hf_\w+$/.test(text.trim())
        ? undefined
        : 'Tokens of the Hugging Face hub start with hf_',
  });
  if (value === undefined) return false;
  if (value.trim() === '') await secrets.delete(secret);
  else await secrets.store(secret, value.trim());
  return value.trim() !== '';
}
