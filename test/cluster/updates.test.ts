import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { immutableDifferences, immutableFields } from '../../server/src/rules/live/immutable-fields';
import { uriOf, workspaceOf } from '../support/workspace';
import { at, type Api, type Json, type KubeObject } from './lab/api';
import { apply, collectionPath, objectsIn } from './lab/manifest';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';

/**
 * What `immutable-field-in-update` says cannot be changed, the API server refuses to change; what else is changed here,
 * it takes. An object is stored, then the same with one change is sent as a dry run.
 */

interface Change {
  readonly what: string;
  /** What is replaced by what in the text of the object. */
  readonly replace: readonly [string, string];
  /** The field that cannot be changed; without one the API server takes it. */
  readonly field?: string;
}

interface Case {
  readonly text: string;
  readonly changes: readonly Change[];
  /** What the object waits for before it is changed. */
  readonly until?: (object: KubeObject) => boolean;
}

const podTemplate = (labels: string, restart = ''): string => `  template:
    metadata: { labels: { ${labels} } }
    spec:
      ${restart}
      containers: [{ name: main, image: "main:1" }]`;

/** Of kinds whose selector is all that cannot be changed. */
const bySelector = (kind: string): Case => ({
  text: `apiVersion: apps/v1
kind: ${kind}
metadata: { name: fixed }
spec:
  selector: { matchLabels: { app: fixed } }
${podTemplate('app: fixed, tier: one')}
`,
  changes: [
    {
      what: 'another selector',
      replace: ['matchLabels: { app: fixed }', 'matchLabels: { tier: one }'],
      field: 'spec.selector',
    },
    {
      what: 'one label more',
      replace: ['{ app: fixed } }\n  template', '{ app: fixed, tier: one } }\n  template'],
      field: 'spec.selector',
    },
    { what: 'another image', replace: ['main:1', 'main:2'] },
  ],
});

const job = (name: string, spec: string): string => `apiVersion: batch/v1
kind: Job
metadata: { name: ${name} }
spec:
${spec}
${podTemplate('app: fixed', 'restartPolicy: Never')}
`;

const binding = (kind: string): Case => ({
  text: `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata: { name: plimsoll-fixed }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: ServiceAccount, name: one, namespace: default }]
`,
  changes: [
    { what: 'another role', replace: ['name: view', 'name: edit'], field: 'roleRef' },
    { what: 'another subject', replace: ['name: one', 'name: two'] },
  ],
});

const cases: readonly Case[] = [
  bySelector('Deployment'),
  bySelector('ReplicaSet'),
  bySelector('DaemonSet'),
  {
    text: `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: fixed }
spec:
  replicas: 0
  serviceName: fixed
  podManagementPolicy: OrderedReady
  selector: { matchLabels: { app: fixed } }
${podTemplate('app: fixed, tier: one')}
  volumeClaimTemplates:
    - metadata: { name: models }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 10Gi } } }
`,
    changes: [
      {
        what: 'another selector',
        replace: ['matchLabels: { app: fixed }', 'matchLabels: { tier: one }'],
        field: 'spec.selector',
      },
      {
        what: 'another service',
        replace: ['serviceName: fixed', 'serviceName: other'],
        field: 'spec.serviceName',
      },
      {
        what: 'another order',
        replace: ['OrderedReady', 'Parallel'],
        field: 'spec.podManagementPolicy',
      },
      { what: 'a larger volume', replace: ['10Gi', '20Gi'], field: 'spec.volumeClaimTemplates' },
      { what: 'a quantity in other words', replace: ['10Gi', '10240Mi'] },
      { what: 'another count', replace: ['replicas: 0', 'replicas: 1'] },
    ],
  },
  {
    text: job(
      'fixed',
      `  completions: 2
  manualSelector: true
  selector: { matchLabels: { app: fixed } }
  managedBy: example.com/one
  podFailurePolicy:
    rules: [{ action: FailJob, onExitCodes: { operator: In, values: [1] } }]`,
    ),
    changes: [
      { what: 'another count', replace: ['completions: 2', 'completions: 3'], field: 'spec.completions' },
      {
        what: 'another selector',
        replace: ['matchLabels: { app: fixed }', 'matchLabels: { app: other }'],
        field: 'spec.selector',
      },
      {
        what: 'another manager',
        replace: ['example.com/one', 'example.com/two'],
        field: 'spec.managedBy',
      },
      { what: 'another policy', replace: ['values: [1]', 'values: [2]'], field: 'spec.podFailurePolicy' },
      { what: 'another image', replace: ['main:1', 'main:2'], field: 'spec.template.spec' },
      { what: 'another limit', replace: ['completions: 2', 'completions: 2\n  backoffLimit: 3'] },
    ],
  },
  {
    text: job(
      'indexed',
      `  completions: 2
  parallelism: 2
  completionMode: Indexed
  backoffLimitPerIndex: 1
  managedBy: example.com/one
  successPolicy: { rules: [{ succeededCount: 1 }] }`,
    ),
    changes: [
      {
        what: 'another limit of an index',
        replace: ['backoffLimitPerIndex: 1', 'backoffLimitPerIndex: 2'],
        field: 'spec.backoffLimitPerIndex',
      },
      {
        what: 'another policy of success',
        replace: ['succeededCount: 1', 'succeededCount: 2'],
        field: 'spec.successPolicy',
      },
      {
        what: 'both counts together',
        replace: ['completions: 2\n  parallelism: 2', 'completions: 3\n  parallelism: 3'],
      },
    ],
  },
  {
    text: job('mode', '  completions: 2\n  completionMode: NonIndexed\n  managedBy: example.com/one'),
    changes: [{ what: 'another mode', replace: ['NonIndexed', 'Indexed'], field: 'spec.completionMode' }],
  },
  {
    text: job('suspended', '  suspend: true'),
    changes: [
      {
        what: 'where it may run, before it begins',
        replace: ['restartPolicy', 'nodeSelector: { a: b }\n      restartPolicy'],
      },
    ],
  },
  {
    text: `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: fixed }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: plimsoll-none
  volumeMode: Filesystem
  selector: { matchLabels: { disk: one } }
  dataSource: { kind: PersistentVolumeClaim, name: other }
  resources: { requests: { storage: 10Gi } }
`,
    changes: [
      {
        what: 'another mode of access',
        replace: ['ReadWriteOnce', 'ReadWriteMany'],
        field: 'spec.accessModes',
      },
      {
        what: 'another class',
        replace: ['plimsoll-none', 'plimsoll-other'],
        field: 'spec.storageClassName',
      },
      { what: 'another mode of the volume', replace: ['Filesystem', 'Block'], field: 'spec.volumeMode' },
      { what: 'another selector', replace: ['disk: one', 'disk: two'], field: 'spec.selector' },
      { what: 'another source', replace: ['name: other', 'name: another'], field: 'spec.dataSource' },
      { what: 'a label', replace: ['{ name: fixed }', '{ name: fixed, labels: { a: b } }'] },
    ],
  },
  {
    text: `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: bound }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  volumeName: plimsoll-fixed
  resources: { requests: { storage: 10Gi } }
`,
    until: (object) => at(object, 'status', 'phase') === 'Bound',
    changes: [
      {
        what: 'another volume',
        replace: ['volumeName: plimsoll-fixed', 'volumeName: plimsoll-other'],
        field: 'spec.volumeName',
      },
      { what: 'less room', replace: ['10Gi', '5Gi'], field: 'spec.resources.requests.storage' },
    ],
  },
  {
    text: `apiVersion: v1
kind: Service
metadata: { name: fixed }
spec:
  clusterIP: None
  selector: { app: fixed }
  ports: [{ port: 80 }]
`,
    changes: [
      { what: 'an address', replace: ['clusterIP: None', 'clusterIP: 10.96.0.78'], field: 'spec.clusterIP' },
      { what: 'another port', replace: ['port: 80', 'port: 81'] },
    ],
  },
  {
    text: `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: plimsoll-fixed }
provisioner: ebs.csi.aws.com
parameters: { type: gp3 }
reclaimPolicy: Delete
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: false
`,
    changes: [
      { what: 'another driver', replace: ['ebs.csi', 'efs.csi'], field: 'provisioner' },
      { what: 'another parameter', replace: ['type: gp3', 'type: io2'], field: 'parameters' },
      {
        what: 'one parameter more',
        replace: ['type: gp3', 'type: gp3, iops: "4000"'],
        field: 'parameters',
      },
      { what: 'what becomes of the volumes', replace: ['Delete', 'Retain'], field: 'reclaimPolicy' },
      {
        what: 'when it is bound',
        replace: ['WaitForFirstConsumer', 'Immediate'],
        field: 'volumeBindingMode',
      },
      { what: 'that volumes may grow', replace: ['Expansion: false', 'Expansion: true'] },
    ],
  },
  {
    text: `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: plimsoll-fixed }
value: 1000
preemptionPolicy: Never
description: one
`,
    changes: [
      { what: 'another value', replace: ['value: 1000', 'value: 2000'], field: 'value' },
      {
        what: 'another policy',
        replace: ['Policy: Never', 'Policy: PreemptLowerPriority'],
        field: 'preemptionPolicy',
      },
      { what: 'another description', replace: ['description: one', 'description: two'] },
    ],
  },
  binding('RoleBinding'),
  binding('ClusterRoleBinding'),
  {
    text: `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: plimsoll-fixed }
spec:
  limits: { cpu: "0" }
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }
      requirements: [{ key: kubernetes.io/arch, operator: In, values: [amd64] }]
`,
    changes: [
      {
        what: 'another group of the class',
        replace: ['karpenter.k8s.aws', 'eks.amazonaws.com'],
        field: 'spec.template.spec.nodeClassRef.group',
      },
      {
        what: 'another kind of class',
        replace: ['kind: EC2NodeClass', 'kind: NodeClass'],
        field: 'spec.template.spec.nodeClassRef.kind',
      },
      { what: 'another class', replace: ['name: gpu }', 'name: large }'] },
      { what: 'another requirement', replace: ['[amd64]', '[arm64]'] },
    ],
  },
];

/** For the claim that is bound. */
const volume = `apiVersion: v1
kind: PersistentVolume
metadata: { name: plimsoll-fixed }
spec:
  capacity: { storage: 10Gi }
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  hostPath: { path: /tmp }
`;

let lab: Lab;
let api: Api;
let namespace: string;
const created: string[] = [];

before(async () => {
  lab = useLab();
  api = lab.admin;
  namespace = await lab.namespace('updates');
});

after(async () => {
  await lab.close();
  // What is in no namespace does not leave with it.
  for (const path of created) await api.delete(path);
});

async function pathOf(text: string): Promise<string> {
  const [written] = objectsIn(text);
  assert.ok(written !== undefined, 'one object');
  const name = String(at(written.object, 'metadata', 'name'));
  return `${await collectionPath(api, written.object, namespace)}/${name}`;
}

/** Stores an object and answers it as the API server then has it. */
async function stored({
  text,
  until,
}: Case): Promise<{ readonly path: string; readonly object: KubeObject }> {
  const path = await pathOf(text);
  await apply(api, text, namespace);
  if (!path.includes('/namespaces/')) created.push(path);
  const object = await waitFor(
    `${path} is as it has to be`,
    async () => {
      const found = await api.find(path);
      return found !== undefined && (until?.(found) ?? true) ? found : undefined;
    },
    30_000,
  );
  return { path, object };
}

async function refusal(path: string, text: string): Promise<string | undefined> {
  const query = 'dryRun=All&force=true&fieldManager=plimsoll-tests&fieldValidation=Strict';
  const { status, body } = await api.call('PATCH', `${path}?${query}`, {
    body: text,
    contentType: 'application/apply-patch+yaml',
  });
  return status < 300 ? undefined : String(at(body, 'message'));
}

function said(text: string, live: Json): readonly string[] {
  const [resource] = workspaceOf({ 'app.yaml': text }).resourcesOf(uriOf('app.yaml'));
  assert.ok(resource !== undefined, 'one object');
  return immutableDifferences(resource, live).map(({ field }) => field);
}

const shown = new Set<string>();

for (const one of cases) {
  const { object } = objectsIn(one.text)[0] ?? assert.fail('a case has one object');
  const apiVersion = String(object['apiVersion']);
  const kind = String(object['kind']);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  describe(`${kind} ${String(at(object, 'metadata', 'name'))}`, () => {
    let path: string;
    let live: KubeObject;
    before(async () => {
      if (kind === 'PersistentVolumeClaim') {
        await apply(api, volume, namespace);
        created.push(await pathOf(volume));
      }
      ({ path, object: live } = await stored(one));
    });

    test('as it is', async () => {
      assert.equal(await refusal(path, one.text), undefined);
      assert.deepEqual(said(one.text, live), []);
    });

    for (const { what, replace, field } of one.changes) {
      test(what, async () => {
        const changed = one.text.replace(...replace);
        assert.notEqual(changed, one.text, 'the text has what is replaced');
        assert.deepEqual(said(changed, live), field === undefined ? [] : [field]);
        const why = await refusal(path, changed);
        if (field === undefined) return assert.equal(why, undefined);
        assert.ok(why !== undefined, 'the API server refuses it');
        // All of them are refused as updates, and not for what they are.
        assert.doesNotMatch(why, /unknown field|Unsupported value/);
        shown.add(`${group}/${kind} ${field}`);
      });
    }
  });
}

describe('every field', () => {
  for (const [kind, fields] of Object.entries(immutableFields)) {
    for (const { path } of fields)
      test(`is shown: ${kind} ${path.join('.')}`, () =>
        assert.ok(shown.has(`${kind} ${path.join('.')}`), 'no case changes it'));
  }
});
