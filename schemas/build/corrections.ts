import type { JsonSchema } from './validators';

/**
 * What the packages do not say, or say otherwise than an API server does. Each statement was seen on a real API server
 * or follows from its validation code (`pkg/apis/<group>/validation`) and from the definitions of the custom resources.
 */

/**
 * Built-in kinds: `required` there tells Go's `omitempty`, which is not the same as being refused. These may be absent or
 * zero.
 */
export const notRequired: Readonly<Record<string, readonly string[]>> = {
  IoK8sApiCoreV1LimitRangeSpec: ['limits'],
  IoK8sApiCoreV1ISCSIVolumeSource: ['lun'],
  IoK8sApiCoreV1ISCSIPersistentVolumeSource: ['lun'],
  IoK8sApiCoreV1SleepAction: ['seconds'],
  IoK8sApiCoreV1HTTPHeader: ['value'],
  // A data source that is no object is dropped.
  IoK8sApiCoreV1TypedLocalObjectReference: ['kind', 'name'],
  IoK8sApiCoreV1Sysctl: ['value'],
  IoK8sApiCoreV1PreferredSchedulingTerm: ['preference'],
  IoK8sApiBatchV1PodFailurePolicy: ['rules'],
  IoK8sApiStorageV1CSIDriver: ['spec'],
  IoK8sApiResourceV1DeviceClass: ['spec'],
  IoK8sApiResourceV1ResourceClaim: ['spec'],
  IoK8sApiResourceV1ResourceClaimTemplate: ['spec'],
  IoK8sApiResourceV1ResourceClaimTemplateSpec: ['spec'],
};

/** Built-in kinds: what validation wants beside. A `spec` whose own fields are required cannot be left out. */
export const alsoRequired: Readonly<Record<string, readonly string[]>> = {
  IoK8sApiAppsV1Deployment: ['spec'],
  IoK8sApiAppsV1StatefulSet: ['spec'],
  IoK8sApiAppsV1StatefulSetSpec: ['selector', 'template'],
  IoK8sApiAppsV1DaemonSet: ['spec'],
  IoK8sApiAppsV1ReplicaSet: ['spec'],
  IoK8sApiAppsV1ReplicaSetSpec: ['template'],
  IoK8sApiBatchV1Job: ['spec'],
  IoK8sApiBatchV1JobTemplateSpec: ['spec'],
  IoK8sApiCoreV1Pod: ['spec'],
  IoK8sApiCoreV1PodTemplateSpec: ['spec'],
  IoK8sApiCoreV1PersistentVolumeClaim: ['spec'],
  IoK8sApiCoreV1PersistentVolumeClaimSpec: ['accessModes', 'resources'],
  IoK8sApiCoreV1PersistentVolume: ['spec'],
  IoK8sApiCoreV1PersistentVolumeSpec: ['accessModes', 'capacity'],
  IoK8sApiNetworkingV1Ingress: ['spec'],
  IoK8sApiRbacV1RoleRef: ['kind', 'name'],
};

/** Built-in kinds: values that validation allows, of fields whose type does not list them. */
export const allowedValues: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  IoK8sApiAutoscalingV2MetricSpec: { type: ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'] },
  IoK8sApiAutoscalingV2MetricTarget: { type: ['Utilization', 'Value', 'AverageValue'] },
  IoK8sApiAutoscalingV2HPAScalingPolicy: { type: ['Percent', 'Pods'] },
  IoK8sApiAutoscalingV2HPAScalingRules: { selectPolicy: ['Disabled', 'Max', 'Min'] },
  IoK8sApimachineryPkgApisMetaV1LabelSelectorRequirement: {
    operator: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
  },
  IoK8sApiCoreV1ContainerResizePolicy: { restartPolicy: ['NotRequired', 'RestartContainer'] },
  IoK8sApiRbacV1RoleRef: { apiGroup: ['rbac.authorization.k8s.io'], kind: ['ClusterRole', 'Role'] },
  IoK8sApiRbacV1Subject: {
    apiGroup: ['rbac.authorization.k8s.io'],
    kind: ['Group', 'ServiceAccount', 'User'],
  },
};

/** Built-in kinds: limits of numbers that validation has, of kinds that no other rule looks into. */
export const limits: Readonly<Record<string, Readonly<Record<string, Partial<JsonSchema>>>>> = {
  IoK8sApiNetworkingV1ServiceBackendPort: { number: { minimum: 1, maximum: 65_535 } },
  IoK8sApiNetworkingV1NetworkPolicyPort: { endPort: { minimum: 1, maximum: 65_535 } },
};

/** Built-in kinds: fields whose type is validated elsewhere, and not here. */
export const instead: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  IoK8sApiAutoscalingV2MetricIdentifier: {
    // The HPA's validation passes over the selector of a metric, whatever it says.
    selector: {
      type: 'object',
      properties: {
        matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
        matchExpressions: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              key: { type: 'string' },
              operator: { type: 'string' },
              values: { type: 'array', items: { type: 'string' } },
            },
          },
        },
      },
    },
  },
};

/**
 * Built-in kinds: optional fields that are pointers in Go, so that an empty text is a value, and none of those allowed.
 * In other fields it stands for the default.
 */
export const emptyIsRefused: Readonly<Record<string, readonly string[]>> = {
  IoK8sApiAutoscalingV2HPAScalingRules: ['selectPolicy'],
  IoK8sApiBatchV1JobSpec: ['completionMode', 'podReplacementPolicy'],
  IoK8sApiCoreV1AzureDiskVolumeSource: ['cachingMode'],
  IoK8sApiCoreV1PersistentVolumeClaimSpec: ['volumeMode'],
  IoK8sApiCoreV1PersistentVolumeSpec: ['volumeMode'],
  IoK8sApiCoreV1PodSecurityContext: ['fsGroupChangePolicy', 'supplementalGroupsPolicy'],
  IoK8sApiCoreV1PodSpec: ['preemptionPolicy'],
  IoK8sApiCoreV1SecurityContext: ['procMount'],
  IoK8sApiCoreV1ServiceSpec: ['internalTrafficPolicy', 'ipFamilyPolicy'],
  IoK8sApiCoreV1TopologySpreadConstraint: ['nodeAffinityPolicy', 'nodeTaintsPolicy'],
  IoK8sApiCoreV1VolumeMount: ['mountPropagation'],
  IoK8sApiNetworkingV1NetworkPolicyPort: ['protocol'],
  IoK8sApiPolicyV1PodDisruptionBudgetSpec: ['unhealthyPodEvictionPolicy'],
  IoK8sApiSchedulingV1PriorityClass: ['preemptionPolicy'],
  IoK8sApiStorageV1StorageClass: ['volumeBindingMode'],
};

const labelKey =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
const labelValue = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const quantity =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';
/** An amount or a percentage; nothing at all is allowed too. */
const signal = `^((\\d{1,2}(\\.\\d{1,2})?|100(\\.0{1,2})?)%||${quantity.slice(1, -1)})$`;
const reserved: Partial<JsonSchema> = { additionalProperties: { type: 'string', pattern: quantity } };
const eviction: Partial<JsonSchema> = { additionalProperties: { type: 'string', pattern: signal } };

const atLeastOne: Partial<JsonSchema> = { minItems: 1 };
const notNegative: Partial<JsonSchema> = { minimum: 0 };
const fromSecret: JsonSchema = {
  type: 'object',
  required: ['valueFrom'],
  properties: {
    valueFrom: {
      type: 'object',
      required: ['secretKeyRef'],
      properties: {
        secretKeyRef: {
          type: 'object',
          required: ['key', 'name'],
          properties: { key: { type: 'string' }, name: { type: 'string' } },
        },
      },
    },
  },
};
const timeout = (minimum: number, maximum: number, description: string): JsonSchema => ({
  type: 'integer',
  format: 'int32',
  minimum,
  maximum,
  description,
});

/**
 * Custom resources: constraints of the installed definitions that are not in the Go types, and fields that are newer than
 * the packages. Compared with the definitions of Karpenter 1.14, KEDA 2.20, Prometheus Operator 0.85 and Argo Rollouts
 * 1.10.
 */
export const constraints: Readonly<Record<string, Readonly<Record<string, Partial<JsonSchema>>>>> = {
  IoK8sSigsKarpenterPkgApisV1NodeSelectorRequirementWithMinValues: {
    key: { pattern: labelKey, maxLength: 316 },
    operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] },
  },
  IoK8sSigsKarpenterPkgApisV1Budget: {
    duration: { pattern: '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$' },
  },
  IoK8sSigsKarpenterPkgApisV1NodeClaimSpec: { terminationGracePeriod: { pattern: '^([0-9]+(s|m|h))+$' } },
  IoK8sSigsKarpenterPkgApisV1NodeClaimTemplateSpec: {
    terminationGracePeriod: { pattern: '^([0-9]+(s|m|h))+$' },
    resources: { type: 'object', maxProperties: 0 },
  },
  IoK8sSigsKarpenterPkgApisV1ObjectMeta: {
    labels: {
      maxProperties: 100,
      additionalProperties: { type: 'string', pattern: labelValue, maxLength: 63 },
    },
  },
  ComGithubAwsKarpenterProviderAwsPkgApisV1KubeletConfiguration: {
    evictionHard: eviction,
    evictionSoft: eviction,
    kubeReserved: reserved,
    systemReserved: reserved,
  },
  ComGithubAwsKarpenterProviderAwsPkgApisV1EC2NodeClassSpec: {
    connectionTracking: {
      type: 'object',
      description: 'How long idle connections are tracked on the network interfaces of the nodes.',
      properties: {
        tcpEstablishedTimeout: timeout(60, 432_000, 'Seconds for established TCP connections.'),
        udpStreamTimeout: timeout(60, 180, 'Seconds for UDP flows with more than one request and response.'),
        udpTimeout: timeout(30, 60, 'Seconds for UDP flows in one direction or with a single response.'),
      },
    },
    cpuOptions: {
      type: 'object',
      description: 'Options of the processors of the instances.',
      properties: {
        nestedVirtualization: {
          type: 'string',
          enum: ['enabled', 'disabled'],
          description: 'Whether virtual machines can run on the instances.',
        },
      },
    },
  },
  IoK8sSigsKarpenterPkgApisV1alpha1NodeSelectorRequirement: {
    key: { pattern: labelKey, maxLength: 316 },
    operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1ScaledObjectSpec: {
    cooldownPeriod: notNegative,
    idleReplicaCount: notNegative,
    initialCooldownPeriod: notNegative,
    maxReplicaCount: { minimum: 1 },
    minReplicaCount: notNegative,
    pollingInterval: { minimum: 1 },
    triggers: atLeastOne,
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1ScaledJobSpec: {
    failedJobsHistoryLimit: notNegative,
    maxReplicaCount: { minimum: 1 },
    minReplicaCount: notNegative,
    pollingInterval: { minimum: 1 },
    rolloutStrategy: { enum: ['gradual', 'immediate'] },
    successfulJobsHistoryLimit: notNegative,
    triggers: atLeastOne,
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1Rollout: {
    propagationPolicy: { enum: ['background', 'foreground'] },
    strategy: { enum: ['gradual', 'immediate'] },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1ScalingStrategy: {
    multipleScalersCalculation: { enum: ['avg', 'max', 'min', 'sum'] },
    strategy: { enum: ['default', 'custom', 'accurate', 'eager'] },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1ScalingModifiers: {
    metricType: { enum: ['AverageValue', 'Value'] },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1Fallback: {
    behavior: {
      enum: [
        'static',
        'currentReplicas',
        'currentReplicasIfHigher',
        'currentReplicasIfLower',
        'scalingModifiers',
      ],
    },
    failureThreshold: notNegative,
    replicas: notNegative,
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1ScaleTarget: { name: { minLength: 1 } },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1ScaleTriggers: { type: { minLength: 1 } },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1AuthenticationRef: {
    kind: { enum: ['ClusterTriggerAuthentication', 'TriggerAuthentication'] },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1AuthPodIdentity: {
    externalID: {
      type: 'string',
      description: 'The external id to assume the role of `roleArn` with, for AWS.',
    },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1TriggerAuthenticationSpec: {
    oauth2: {
      type: 'object',
      description: 'A token that KEDA gets for itself with OAuth 2.0 client credentials.',
      required: ['clientId', 'tokenUrl'],
      properties: {
        clientId: { type: 'string' },
        clientSecret: fromSecret,
        scopes: { type: 'array', items: { type: 'string' } },
        tokenUrl: { type: 'string' },
        tokenUrlParams: { type: 'object', additionalProperties: { type: 'string' } },
        type: { type: 'string', enum: ['clientCredentials'] },
      },
    },
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1AwsSecretManager: { secrets: atLeastOne },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1AzureKeyVault: { secrets: atLeastOne },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1GCPSecretManager: { secrets: atLeastOne },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1HashiCorpVault: {
    authentication: { type: 'string', enum: ['kubernetes', 'token'] },
    secrets: atLeastOne,
  },
  ComGithubKedacoreKedaV2ApisKedaV1alpha1VaultSecret: {
    type: { type: 'string', enum: ['', 'pki', 'secret', 'secretV2'] },
  },
  // The pod of a job there is of an older or newer Kubernetes than that of the package.
  IoK8sApiCoreV1PodSpec: { workloadRef: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  IoK8sSigsKarpenterPkgApisV1Disruption: {
    consolidationPolicy: { type: 'string', enum: ['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'] },
  },
};

/** Custom resources: fields that have a default, which is filled in before anything is found missing. */
export const defaulted: Readonly<Record<string, readonly string[]>> = {
  IoK8sSigsKarpenterPkgApisV1Budget: ['nodes'],
};

/** Argo Rollouts leaves the volumes of its pods, and some more, to the Deployment's own validation. */
export const rolloutPods: Readonly<Record<string, Partial<JsonSchema>>> = {
  IoK8sApiCoreV1Volume: { 'x-kubernetes-preserve-unknown-fields': true, required: [] },
  IoK8sApiCoreV1HostAlias: { required: [] },
  IoK8sApiCoreV1PodResourceClaim: { 'x-kubernetes-preserve-unknown-fields': true },
};

/** Taints of Karpenter are those of Kubernetes with constraints of its own. */
export const karpenterTaint: Readonly<Record<string, Partial<JsonSchema>>> = {
  key: { minLength: 1, pattern: labelKey },
  value: { pattern: labelKey },
  effect: { enum: effects },
};
