import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { readInstanceTypes } from '../../server/src/remote/aws';
import { allocatable } from '../../server/src/sizing/nodes/allocatable';
import { instanceTypes, type InstanceType } from '../../server/src/sizing/nodes/instances';
import { mergeTypes } from '../../server/src/sizing/nodes/refreshed';
import { startAws } from '../sources/aws-server';
import { useLab, type Lab } from './lab/use';

/**
 * `plimsoll refresh-instances` with the EC2 API as moto has it, whose types were recorded from EC2; it has no price list,
 * which stays a server on the loopback interface.
 */

let lab: Lab;

before(() => {
  lab = useLab();
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'lab',
    AWS_SECRET_ACCESS_KEY: 'lab',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
});

/** What EC2 says of a type and is what decides where a pod fits. */
function figures({ name, vcpu, memoryMiB, gpus, arch }: InstanceType): object {
  return { name, vcpu, memoryMiB, gpus, arch };
}

test('EC2 tells of its types what the shipped catalogue has', async () => {
  const prices = await startAws([]);
  const read = await readInstanceTypes({
    region: 'us-east-1',
    ec2Endpoint: lab.state.cloudWatch,
    pricingEndpoint: prices.url,
  }).finally(() => prices.close());
  const told = new Map(read.map((type) => [type.name, type]));
  const shipped = instanceTypes().filter(({ name }) => told.has(name));
  assert.ok(shipped.length > 200, `${shipped.length} of ${read.length} types are shipped too`);
  for (const type of shipped) {
    const other = told.get(type.name);
    assert.deepEqual(other === undefined ? undefined : figures(other), figures(type));
  }
  // A refresh changes nothing about what fits on a type that is known.
  const merged = new Map(mergeTypes(instanceTypes(), read).map((type) => [type.name, type]));
  for (const type of instanceTypes()) {
    const after = merged.get(type.name);
    assert.deepEqual(after === undefined ? undefined : allocatable(after), allocatable(type), type.name);
  }
  assert.ok(merged.size > instanceTypes().length, 'types that are not shipped are added');
});
