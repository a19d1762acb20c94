import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { modelEntry, withModel } from '../../engine/models-edit';
import { whyUnreadable } from '../../files/errors';
import { configName } from '../../files/text';
import { formatBytes } from '../../kube/quantity';
import { isRemoteError } from '../../remote/remote-error';
import { estimate } from '../../sizing/memory/estimate';
import { describeParameters } from '../../sizing/memory/loaded-weights';
import type { DescribedModel } from '../../sizing/models/from-config';
import { identifyModel } from '../../sizing/models/identify';
import type { ModelCommand } from '../arguments';
import { configsAbove } from '../collect';
import { readText, writeText } from '../disk';
import { printable } from '../formats/text';
import type { Host } from '../host';
import { displayPath } from '../paths';

/** `plimsoll model`: exit code 0 read (and written), 2 where the hub or the configuration cannot be read or changed. */
export async function modelCommand(command: ModelCommand, host: Host): Promise<number> {
  const fail = (message: string): number => {
    host.stderr.write(`plimsoll: ${printable(message)}\n`);
    return 2;
  };
  const token = filled(host.env['HF_TOKEN']) ?? filled(host.env['HUGGING_FACE_HUB_TOKEN']);
  const hubUrl = filled(host.env['HF_ENDPOINT']);
  let described: DescribedModel;
  try {
    const { readHubModel } = await import('../../remote/index');
    described = await readHubModel({
      repository: command.repository,
      ...(command.revision === undefined ? {} : { revision: command.revision }),
      ...(token === undefined ? {} : { token }),
      ...(hubUrl === undefined ? {} : { hubUrl }),
    });
  } catch (error) {
    if (isRemoteError(error)) return fail(error.message);
    throw error;
  }
  let writtenTo: string | undefined;
  if (command.write) {
    const [nearest] = configsAbove([host.cwd]);
    const path =
      command.config === undefined
        ? (nearest ?? join(host.cwd, configName))
        : resolve(host.cwd, command.config);
    const problem = write(path, described);
    if (problem !== undefined) return fail(`${displayPath(path, host.cwd)}: ${problem}`);
    writtenTo = displayPath(path, host.cwd);
  }
  host.stdout.write(command.format === 'json' ? json(described, writtenTo) : text(described, writtenTo));
  return 0;
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/** Adds the model to a configuration file, which is made where there is none; a sentence where that cannot be done. */
function write(path: string, { model }: DescribedModel): string | undefined {
  const isThere = existsSync(path);
  const read = isThere ? readText(path) : { text: '' };
  if ('problem' in read) return read.problem;
  const changed = withModel(read.text, model);
  if (changed === undefined) {
    return 'the model cannot be added: the file is not well-formed, or "models" is no map; plimsoll lint tells more';
  }
  if (isThere) return writeText(path, changed, 'the model was');
  try {
    writeFileSync(path, changed, { flag: 'wx' });
    return undefined;
  } catch (error) {
    return `the model was not written: ${whyUnreadable(error)}`;
  }
}

function json({ model, notes }: DescribedModel, writtenTo: string | undefined): string {
  return `${JSON.stringify({ name: model.name, figures: modelEntry(model), notes, writtenTo: writtenTo ?? null }, null, 2)}\n`;
}

function text({ model, notes }: DescribedModel, writtenTo: string | undefined): string {
  const identity = identifyModel(model.name, { userModels: [model] });
  const kv =
    identity === undefined ? undefined : estimate({ model: identity, engine: { kind: 'vllm' } }).kvPerToken;
  const about = [
    ...(model.parameters === undefined || identity === undefined
      ? []
      : [describeParameters(identity.parameters)]),
    ...(model.weightBytes === undefined ? [] : [`${formatBytes(model.weightBytes)} of weights`]),
    ...(kv === undefined ? [] : [`${formatBytes(kv.expected)} of KV cache for each token`]),
    ...notes,
  ];
  const head = `${model.name}: ${about.join(', ')}`;
  const entry = withModel('', model) ?? '';
  const tail =
    writtenTo === undefined ? 'For .plimsoll.yaml (--write adds it there):' : `Written to ${writtenTo}:`;
  return `${printable(head)}\n\n${tail}\n\n${entry.split('\n').map(printable).join('\n')}`;
}
