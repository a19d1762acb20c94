import { mkdirSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { whyUnreadable } from '../../files/errors';
import { isRemoteError } from '../../remote/remote-error';
import { instanceTypes, type InstanceType } from '../../sizing/nodes/instances';
import { catalogueFile, catalogueJson, mergeTypes } from '../../sizing/nodes/refreshed';
import type { RefreshCommand } from '../arguments';
import { catalogueAbove } from '../catalogue';
import { configsAbove } from '../collect';
import { writeText } from '../disk';
import { printable } from '../formats/text';
import type { Host } from '../host';
import { displayPath } from '../paths';

/** `plimsoll refresh-instances`: exit code 0 written, 2 where AWS cannot be asked or the file not be written. */
export async function refreshInstances(command: RefreshCommand, host: Host): Promise<number> {
  const fail = (message: string): number => {
    host.stderr.write(`plimsoll: ${printable(message)}\n`);
    return 2;
  };
  const { env, cwd } = host;
  const region = command.region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const shipped = instanceTypes();
  let read: readonly InstanceType[];
  try {
    const [ec2Endpoint, pricingEndpoint] = [env['AWS_ENDPOINT_URL_EC2'], env['AWS_ENDPOINT_URL_PRICING']];
    const { readInstanceTypes } = await import('../../remote/index');
    read = await readInstanceTypes({
      region,
      ...(ec2Endpoint === undefined ? {} : { ec2Endpoint }),
      ...(pricingEndpoint === undefined ? {} : { pricingEndpoint }),
    });
  } catch (error) {
    if (isRemoteError(error)) return fail(error.message);
    throw error;
  }
  const priced = read.filter(({ onDemandPrice }) => onDemandPrice !== undefined).length;
  // An answer with next to nothing in it must not take the place of figures that are good.
  if (read.length === 0 || priced === 0) {
    return fail(
      `AWS told ${read.length} instance types and ${priced} prices of ${region}; nothing is written. Is ${region} a region of this account?`,
    );
  }
  const types = mergeTypes(shipped, read);
  const path = targetOf(command, cwd);
  const problem = write(path, catalogueJson({ region, date: new Date().toISOString().slice(0, 10), types }));
  if (problem !== undefined) return fail(`${displayPath(path, cwd)}: ${problem}`);
  host.stdout.write(`${summary(shipped, types, region)}\nWritten to ${printable(displayPath(path, cwd))}\n`);
  return 0;
}

/** Where a catalogue is already, else beside the nearest configuration, else here. */
function targetOf({ output }: RefreshCommand, cwd: string): string {
  if (output !== undefined) return resolve(cwd, output);
  const [config] = configsAbove([cwd]);
  return catalogueAbove(cwd) ?? join(config === undefined ? cwd : dirname(config), catalogueFile);
}

function write(path: string, text: string): string | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) return writeText(path, text, 'the instance types were');
    writeFileSync(path, text, { flag: 'wx' });
    return undefined;
  } catch (error) {
    return `the instance types were not written: ${whyUnreadable(error)}`;
  }
}

function summary(before: readonly InstanceType[], after: readonly InstanceType[], region: string): string {
  const known = new Map(before.map((type) => [type.name, type]));
  const added = after.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  const changed = after.filter(({ name, onDemandPrice }) => {
    const price = known.get(name)?.onDemandPrice;
    return known.has(name) && onDemandPrice !== undefined && price !== onDemandPrice;
  }).length;
  const absent = after.filter(({ onDemandPrice }) => onDemandPrice === undefined).length;
  const list =
    added.length === 0 ? '' : ` (${added.slice(0, 5).join(', ')}${added.length > 5 ? ', ...' : ''})`;
  return `${after.length} instance types of ${region}: ${added.length} new${list}, ${changed} with another price, ${absent} without one there`;
}
