import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import { defaultConfig } from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import { podRequests } from '../../server/src/sizing/nodes/resources';
import { readNodeClass } from '../../server/src/sizing/nodes/read-node-class';
import { readNodeGroups } from '../../server/src/sizing/nodes/read-node-groups';
import { readNodePool } from '../../server/src/sizing/nodes/read-pool';
import { readPod } from '../../server/src/sizing/nodes/read-pod';
import { placementOf } from '../../server/src/rules/placement/answers';
import { podOf } from '../../server/src/rules/placement/surroundings';
import { tightest } from '../../server/src/rules/placement/pool-room';
import { findInstanceType } from '../../server/src/sizing/nodes/instances';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import { deployment, resourceOf, templateOf, workspaceOf } from './kube-support';

const GiB = 2 ** 30;

describe('pod templates as data', () => {
  test('requests of all containers, sidecars and init containers', () => {
    const template = templateOf(
      deployment(
        'image: a\nresources: { requests: { cpu: 2, memory: 4Gi }, limits: { nvidia.com/gpu: "1" } }',
        `      initContainers:
        - { name: load, image: a, resources: { requests: { cpu: 5 } } }
        - { name: proxy, image: a, restartPolicy: Always, resources: { requests: { cpu: 500m } } }
`,
      ),
    );
    assert.deepEqual(podRequests(readPod(template).resources), {
      amounts: { cpu: 5000, memory: 4 * GiB, 'nvidia.com/gpu': 1 },
      unknown: [],
    });
  });

  test('numbers as the API server reads them, and amounts that are only known later', () => {
    const template = templateOf(
      deployment(
        'image: a\nresources: { limits: { cpu: 0x10, memory: " 1Gi ", nvidia.com/gpu: "${GPUS}" } }',
      ),
    );
    const { amounts, unknown } = podRequests(readPod(template).resources);
    assert.deepEqual(amounts, { cpu: 16000, memory: GiB });
    assert.deepEqual(unknown, ['nvidia.com/gpu']);
  });

  test('selectors, alternatives, preferences, tolerations and keys that nodes must have', () => {
    const pod = readPod(
      templateOf(
        deployment(
          'image: a',
          `      nodeSelector: { team: ml, zone: "\${ZONE}" }
      tolerations: [{ key: nvidia.com/gpu, operator: Exists }, { key: "\${KEY}", operator: Exists }]
      topologySpreadConstraints:
        - { maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule }
        - { maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule }
        - { maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway }
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions: [{ key: a, operator: In, values: [b] }]
              - matchFields: [{ key: metadata.name, operator: In, values: [n1] }]
          preferredDuringSchedulingIgnoredDuringExecution:
            - { weight: 7, preference: { matchExpressions: [{ key: c, operator: Exists }] } }
`,
        ),
      ),
    );
    assert.deepEqual(pod.nodeSelector, { team: 'ml' });
    assert.deepEqual(pod.unknownKeys, ['zone']);
    assert.deepEqual(pod.requiredTerms, [
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      { matchExpressions: [], matchFields: true },
    ]);
    assert.equal(pod.preferredTerms?.[0]?.weight, 7);
    assert.deepEqual(pod.tolerations, [{ key: 'nvidia.com/gpu', operator: 'Exists', value: '', effect: '' }]);
    assert.equal(pod.openTolerations, true);
    assert.deepEqual(pod.topologyKeys, ['topology.kubernetes.io/zone']);
  });

  test('what a template or another object may add leaves the pod incomplete', () => {
    const isIncomplete = (text: string): boolean => readPod(templateOf(text)).incomplete === true;
    assert.equal(isIncomplete(deployment('image: a\nresources: { limits: { cpu: 1 } }')), false);
    assert.equal(
      isIncomplete(deployment('image: a\nresources: {{ toYaml .Values.resources | nindent 12 }}')),
      true,
    );
    assert.equal(
      isIncomplete(
        deployment('image: a', '      resourceClaims: [{ name: gpu, resourceClaimTemplateName: gpu }]\n'),
      ),
      true,
    );
    assert.equal(
      isIncomplete(`apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: { name: a }
spec: { predictor: { model: { modelFormat: { name: huggingface } } } }
`),
      true,
    );
  });

  test('a volume of one zone keeps the pod there', () => {
    const workspace = workspaceOf({
      'app.yaml': deployment(
        'image: a',
        '      volumes: [{ name: v, persistentVolumeClaim: { claimName: models } }]\n',
      ),
      'claim.yaml': `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: models }
spec: { storageClassName: zonal }
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: zonal }
provisioner: ebs.csi.aws.com
allowedTopologies:
  - matchLabelExpressions: [{ key: topology.ebs.csi.aws.com/zone, values: [us-west-2a, us-west-2b] }]
`,
    });
    const [app] = workspace.byKind('Deployment');
    const [template] = app === undefined ? [] : podTemplates(app);
    assert.ok(template);
    assert.deepEqual(podOf(workspace, template).volumeZones, [['us-west-2a', 'us-west-2b']]);
  });
});

describe('node classes as data', () => {
  const nodeClass = (spec: string): ReturnType<typeof readNodeClass> =>
    readNodeClass(
      resourceOf(`apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: a }
spec: ${spec}
`),
    );

  test('the family of an alias, disks, kubelet and reservations', () => {
    assert.deepEqual(
      nodeClass(
        '{ amiSelectorTerms: [{ alias: bottlerocket@v1.44.0 }], instanceStorePolicy: RAID0, ' +
          'blockDeviceMappings: [{ deviceName: /dev/xvdb, rootVolume: true, ebs: { volumeSize: 100Gi } }], ' +
          'kubelet: { maxPods: 20, evictionHard: { memory.available: 5% } }, ' +
          'capacityReservationSelectorTerms: [{ id: cr-1 }] }',
      ),
      {
        kind: 'EC2NodeClass',
        reservations: true,
        spec: {
          amiFamily: 'Bottlerocket',
          instanceStorePolicy: 'RAID0',
          blockDeviceMappings: [{ deviceName: '/dev/xvdb', rootVolume: true, volumeSize: '100Gi' }],
          kubelet: {
            maxPods: 20,
            kubeReserved: {},
            systemReserved: {},
            evictionHard: { 'memory.available': '5%' },
          },
        },
      },
    );
  });

  test('a part that decides and is only known later makes all of it unknown, another does not', () => {
    assert.equal(nodeClass('{ role: "${ROLE}", amiFamily: AL2023 }').kind, 'EC2NodeClass');
    for (const spec of [
      '{ amiFamily: "${FAMILY}" }',
      '{ amiFamily: Solaris }',
      '{ blockDeviceMappings: [{ deviceName: /dev/xvda, ebs: { volumeSize: "${SIZE}" } }] }',
      '{ kubelet: { maxPods: "${MAX}" } }',
    ]) {
      assert.deepEqual(nodeClass(spec), { kind: 'unknown' }, spec);
    }
  });
});

describe('eksctl node groups as data', () => {
  const groups = readNodeGroups(
    resourceOf(`apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: { name: prod, region: us-west-2 }
managedNodeGroups:
  - name: gpu
    instanceTypes: [g5.xlarge, g6.xlarge]
    spot: true
    volumeSize: 200
    availabilityZones: [us-west-2a]
    labels: { team: ml }
    taints: [{ key: nvidia.com/gpu, value: "true", effect: NoSchedule }]
  - { name: plain }
  - { name: chosen, instanceSelector: { vCPUs: 4 } }
nodeGroups:
  - name: mixed
    instanceType: mixed
    instancesDistribution: { instanceTypes: [m5.large], onDemandPercentageAboveBaseCapacity: 0 }
    taints: { dedicated: "web:NoExecute" }
    maxPodsPerNode: 30
`),
  ).map(({ spec }) => spec);

  test('types, capacity, labels and taints in both forms', () => {
    const [gpu, plain, chosen, mixed] = groups;
    assert.deepEqual(gpu?.instanceTypes, ['g5.xlarge', 'g6.xlarge']);
    assert.equal(gpu.spot, true);
    assert.equal(gpu.volumeSizeGiB, 200);
    assert.deepEqual(gpu.zones, ['us-west-2a']);
    assert.deepEqual(gpu.labels, { team: 'ml' });
    assert.deepEqual(gpu.taints, [{ key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' }]);
    assert.equal(gpu.clusterName, 'prod');
    assert.deepEqual(plain?.instanceTypes, ['m5.large']);
    assert.deepEqual(chosen?.instanceTypes, []);
    assert.deepEqual(mixed?.instanceTypes, ['m5.large']);
    assert.equal(mixed.spot, true);
    assert.equal(mixed.maxPodsPerNode, 30);
    assert.deepEqual(mixed.taints, [{ key: 'dedicated', value: 'web', effect: 'NoExecute' }]);
    assert.ok(groups.every(({ incomplete }) => incomplete !== true));
  });
});

describe('NodePools as data', () => {
  test('a requirement without a readable key, and a name that a template makes, are doubts', () => {
    const pool = (name: string, requirement: string): ReturnType<typeof readNodePool> =>
      readNodePool(
        resourceOf(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: ${name} }
spec: { template: { spec: { nodeClassRef: { name: a }, requirements: [${requirement}] } } }
`),
      );
    assert.equal(pool('a', '{ key: a, operator: In, values: [b] }').incomplete, false);
    assert.equal(pool('a', '{ key: "${KEY}", operator: In, values: [b] }').incomplete, true);
    assert.deepEqual(pool('"${NAME}"', '{ key: a, operator: Exists }').unknownKeys, [
      'karpenter.sh/nodepool',
    ]);
  });
});

describe('answers', () => {
  const nodes = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
spec:
  limits: { nvidia.com/gpu: 0 }
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }
      requirements: [{ key: karpenter.k8s.aws/instance-family, operator: In, values: [g6] }]
`;

  test('limits count in what can run now, and say so', () => {
    const workspace = workspaceOf({
      'nodes.yaml': nodes,
      'app.yaml': deployment('image: a\nresources: { limits: { nvidia.com/gpu: 1 } }'),
    });
    const [app] = workspace.byKind('Deployment');
    const [template] = app === undefined ? [] : podTemplates(app);
    assert.ok(template);
    const answer = placementOf(workspace, template);
    assert.equal(answer.verdict, 'none');
    assert.deepEqual(answer.pools[0]?.reasons, [
      'the pool may have 0 GPUs, and its smallest node, g6.xlarge, counts 1',
    ]);
  });

  test('the tightest limit is reckoned over any mix of types', () => {
    const small = findInstanceType('g6.xlarge');
    const large = findInstanceType('g6.12xlarge');
    assert.ok(small && large);
    const room = tightest(
      [
        { type: small, counts: { cpu: 4000, 'nvidia.com/gpu': 1 }, pods: 1 },
        { type: large, counts: { cpu: 48000, 'nvidia.com/gpu': 4 }, pods: 4 },
      ],
      { cpu: 30000, 'nvidia.com/gpu': 20 },
    );
    // Four CPUs for each pod on the small type, twelve on the large one.
    assert.deepEqual(
      [room?.resource, room?.pods, room?.nodes, room?.best.type.name],
      ['cpu', 7, 7, 'g6.xlarge'],
    );
    assert.equal(tightest([], { cpu: 1 }), undefined);
  });
});

describe('public manifests', () => {
  const corpus = resolve(__dirname, '../../../shared/corpus');
  const skip = existsSync(corpus) ? false : 'there is no ../shared/corpus beside the project';

  test('no NodePool is said to match no instance, and no pod to fit nowhere', { skip }, () => {
    const wrong: string[] = [];
    for (const repository of readdirSync(corpus)) {
      const folder = join(corpus, repository);
      if (!statSync(folder).isDirectory()) continue;
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((path) => /\.(ya?ml|tpl)$/.test(path) && statSync(path).isFile())
        .map((path) => parseFile(pathToFileURL(path).href, readFileSync(path, 'utf8')));
      for (const { uri, findings } of lint(Workspace.empty.withAll(files), () => defaultConfig()).files) {
        for (const { rule, message } of findings) {
          if (/^(nodepool-matches-no-instance|no-instance-type-fits|unknown-node-label)$/.test(rule))
            wrong.push(`${uri}: ${message}`);
        }
      }
    }
    assert.deepEqual(wrong, []);
  });
});
