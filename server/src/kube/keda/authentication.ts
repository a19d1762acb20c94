import { entryOf, isMap, isNull, itemsIn, mapIn, scalarIn, textIn } from '../../yaml/node';
import type { Resource } from '../resource';
import type { TriggerAuth } from './trigger';

/** What a TriggerAuthentication or ClusterTriggerAuthentication brings to the triggers that name it. */
export type Authentication = Pick<TriggerAuth, 'parameters' | 'podIdentity'>;

export const unseenAuthentication: Authentication = { parameters: 'unseen', podIdentity: undefined };

/**
 * The lists whose items name a parameter each (kedacore/keda apis/keda/v1alpha1/triggerauthentication_types.go). The
 * values are in Secrets, ConfigMaps and vaults, so only the names are known.
 */
const parameterLists: readonly (readonly string[])[] = [
  ['secretTargetRef'],
  ['configMapTargetRef'],
  ['env'],
  ['boundServiceAccountToken'],
  ['hashiCorpVault', 'secrets'],
  ['azureKeyVault', 'secrets'],
  ['gcpSecretManager', 'secrets'],
  ['awsSecretManager', 'secrets'],
];

const memo = new WeakMap<Resource, Authentication>();

/** `unseen` parameters when a template can add some, or a section is there that is not known. */
export function authenticationOf(resource: Resource): Authentication {
  const known = memo.get(resource);
  if (known !== undefined) return known;
  const read = readAuthentication(resource);
  memo.set(resource, read);
  return read;
}

function readAuthentication(resource: Resource): Authentication {
  const spec = mapIn(resource.root, 'spec');
  if (spec === undefined || spec.open || resource.role === 'kustomize-patch') return unseenAuthentication;
  const sections = new Set([...parameterLists.map(([first]) => first), 'podIdentity']);
  const isKnown = spec.entries.every(({ key, value }) => sections.has(key.text) || isNull(value));
  const podIdentity = readPodIdentity(resource);
  const parameters = new Map<string, string | undefined>();
  for (const path of parameterLists) {
    const list = path.length === 1 ? entryOf(spec, path[0] ?? '')?.value : mapIn(spec, path[0] ?? '');
    if (list === undefined || isNull(list)) continue;
    for (const item of itemsIn(spec, ...path)) {
      const name = textIn(item, 'parameter');
      if (!isMap(item) || item.open || name === undefined) return { parameters: 'unseen', podIdentity };
      parameters.set(name, undefined);
    }
    if (list.kind === 'scalar' || list.open) return { parameters: 'unseen', podIdentity };
  }
  return { parameters: isKnown ? parameters : 'unseen', podIdentity };
}

function readPodIdentity({ root }: Resource): string | undefined {
  const identity = entryOf(mapIn(root, 'spec'), 'podIdentity')?.value;
  if (identity === undefined || isNull(identity)) return '';
  const provider = scalarIn(identity, 'provider');
  return !isMap(identity) || provider === undefined || provider.unknown ? undefined : provider.text;
}
