/** Where KEDA looks for the value of a field. */
export type FieldSource = 'metadata' | 'auth' | 'env';

export type FieldForm = 'text' | 'number' | 'integer' | 'boolean' | 'duration' | 'map';

/** One field of a trigger. */
export interface TriggerField {
  /** The first one names the field; the others are read as well. */
  readonly names: readonly [string, ...string[]];
  /** In the order in which they are asked: the trigger's metadata, its authentication, `<name>FromEnv`. */
  readonly sources: readonly FieldSource[];
  readonly form: FieldForm;
  /** `alone`: not where scalingModifiers compose the metric, since then the target is theirs. */
  readonly required: boolean | 'alone';
  /** What an absent or empty value stands for. */
  readonly default: string | undefined;
  /** Every one of the comma-separated items is one of these. */
  readonly oneOf: readonly string[] | undefined;
  /** At most one of the items is one of these. */
  readonly exclusive: readonly string[] | undefined;
  readonly atLeast: number | undefined;
  readonly above: number | undefined;
  /** A value that KEDA takes for none. */
  readonly not: number | undefined;
  /** Release 2.20.2 ignores it, later ones read it. */
  readonly isNew: boolean;
}

type Options = Partial<Omit<TriggerField, 'names' | 'form' | 'sources'>> & {
  /** Default: the metadata only. */
  readonly from?: readonly FieldSource[];
};

type MakeField = (names: string, options?: Options) => TriggerField;

const inMetadata: readonly FieldSource[] = ['metadata'];

function maker(form: FieldForm): MakeField {
  return (names, { from = inMetadata, ...options } = {}) => {
    const [first = names, ...others] = names.split('|');
    return {
      names: [first, ...others],
      sources: from,
      form,
      required: false,
      default: undefined,
      oneOf: undefined,
      exclusive: undefined,
      atLeast: undefined,
      above: undefined,
      not: undefined,
      isNew: false,
      ...options,
    };
  };
}

const text = maker('text');
const number = maker('number');
const integer = maker('integer');
const boolean = maker('boolean');
const duration = maker('duration');
const map = maker('map');

const required = { required: true } as const;
const target = { required: 'alone' } as const;
const orAuth = { from: ['metadata', 'auth'] } as const;
const authFirst = { from: ['auth', 'metadata'] } as const;
const orEnv = { from: ['metadata', 'env'] } as const;
const anywhere = { from: ['metadata', 'auth', 'env'] } as const;
const authOnly = { from: ['auth'] } as const;
const notMetadata = { from: ['auth', 'env'] } as const;

function authOnlyFields(names: string): readonly TriggerField[] {
  return names.split(' ').map((name) => text(name, authOnly));
}

/** pkg/scalers/authentication/authentication_types.go. */
const httpAuth: readonly TriggerField[] = [
  text('authModes|authMode', {
    ...orAuth,
    oneOf: ['apiKey', 'basic', 'tls', 'bearer', 'custom', 'oauth'],
    exclusive: ['bearer', 'basic', 'oauth'],
  }),
  text('bearerToken|token', authOnly),
  ...authOnlyFields(
    'username password cert key ca oauthTokenURI scopes clientID clientSecret endpointParams',
  ),
  ...authOnlyFields('customAuthHeader customAuthValue'),
  text('apiKey', orAuth),
  text('method', { ...orAuth, default: 'header', oneOf: ['header', 'query'] }),
  text('keyParamName', orAuth),
];

/** pkg/scalers/aws/aws_common.go; which of them are needed is a check of its own. */
const awsCredentials: readonly TriggerField[] = [
  text('identityOwner'),
  text('awsAccessKeyID', { from: ['auth', 'metadata', 'env'] }),
  text('awsAccessKeyId', authOnly),
  text('awsSecretAccessKey', notMetadata),
  ...authOnlyFields('awsRoleArn awsSessionToken'),
];

const aws: readonly TriggerField[] = [
  text('awsRegion', { ...orAuth, ...required }),
  text('awsEndpoint'),
  ...awsCredentials,
];

const kafkaCommon: readonly TriggerField[] = [
  text('bootstrapServers', { ...orEnv, ...required }),
  text('consumerGroup', { ...orEnv, ...required }),
  text('topic', orEnv),
  integer('lagThreshold', { default: '10', above: 0 }),
  integer('activationLagThreshold', { default: '0', atLeast: 0 }),
  text('partitionLimitation'),
  text('offsetResetPolicy', { default: 'latest', oneOf: ['latest', 'earliest'] }),
  boolean('allowIdleConsumers', { default: 'false' }),
  boolean('excludePersistentLag', { default: 'false' }),
  boolean('scaleToZeroOnInvalidOffset', { default: 'false' }),
  boolean('limitToPartitionsWithLag', { default: 'false' }),
  boolean('ensureEvenDistributionOfPartitions', { default: 'false' }),
  text('tls', { ...orAuth, default: 'disable', oneOf: ['enable', 'disable'] }),
  text('awsRegion', orAuth),
  ...awsCredentials,
  ...authOnlyFields('username password cert key keyPassword ca'),
];

const redisConnection: readonly TriggerField[] = [
  text('address|addresses', anywhere),
  text('host|hosts', anywhere),
  text('port|ports', anywhere),
  text('username', anywhere),
  text('password', anywhere),
  text('sentinelUsername', anywhere),
  text('sentinelPassword', anywhere),
  text('sentinelMaster', anywhere),
  integer('databaseIndex', { default: '0' }),
  boolean('enableTLS', { default: 'false' }),
  boolean('unsafeSsl', { default: 'false' }),
  ...authOnlyFields('tls cert key keyPassword ca'),
];

const redisList: readonly TriggerField[] = [
  text('listName', required),
  integer('listLength', { default: '5' }),
  integer('activationListLength', { default: '0' }),
  ...redisConnection,
];

const redisStreams: readonly TriggerField[] = [
  text('stream', required),
  text('consumerGroup'),
  integer('lagCount', { default: '0' }),
  integer('pendingEntriesCount', { default: '5' }),
  integer('streamLength', { default: '5' }),
  integer('activationLagCount', { default: '0' }),
  ...redisConnection,
];

const resource: readonly TriggerField[] = [text('value', required), text('containerName')];

const external: readonly TriggerField[] = [
  text('scalerAddress', required),
  boolean('enableTLS', { default: 'false' }),
  boolean('unsafeSsl', { default: 'false' }),
  ...authOnlyFields('caCert tlsClientCert tlsClientKey'),
];

function shards(name: string): readonly TriggerField[] {
  return [
    text(name, required),
    integer('shardCount', { default: '2' }),
    integer('activationShardCount', { default: '0' }),
    ...aws,
  ];
}

/** CloudWatch's units, in their exact case: types.StandardUnit of aws-sdk-go-v2/service/cloudwatch. */
export const cloudWatchUnits: readonly string[] = [
  ...['Seconds', 'Microseconds', 'Milliseconds', 'Percent', 'Count', 'Count/Second', 'None'],
  ...['Bytes', 'Kilobytes', 'Megabytes', 'Gigabytes', 'Terabytes'].flatMap((unit) => [
    unit,
    `${unit}/Second`,
  ]),
  ...['Bits', 'Kilobits', 'Megabits', 'Gigabits', 'Terabits'].flatMap((unit) => [unit, `${unit}/Second`]),
];

/**
 * The fields of the trigger types that are judged, with their defaults and bounds: the struct tags and `Validate`
 * functions of kedacore/keda pkg/scalers, commit 8b4f083 (2026-08, the main branch after release 2.20.2).
 */
export const triggerFields: Readonly<Record<string, readonly TriggerField[]>> = {
  prometheus: [
    text('serverAddress', required),
    text('query', required),
    number('threshold', required),
    number('activationThreshold', { default: '0' }),
    text('namespace'),
    map('customHeaders'),
    map('queryParameters'),
    boolean('ignoreNullValues', { default: 'true' }),
    boolean('unsafeSsl', { default: 'false' }),
    duration('timeout'),
    text('awsRegion', orAuth),
    ...awsCredentials,
    ...httpAuth,
    text('credentials', { from: ['env'] }),
    text('credentialsFromEnvFile'),
  ],
  'aws-cloudwatch': [
    text('namespace'),
    text('metricName'),
    text('dimensionName'),
    text('dimensionValue'),
    text('expression'),
    number('targetMetricValue', required),
    number('minMetricValue', required),
    number('activationTargetMetricValue', { default: '0' }),
    boolean('ignoreNullValues', { default: 'true' }),
    text('metricStat', { default: 'Average' }),
    integer('metricStatPeriod', { default: '300' }),
    integer('metricCollectionTime', { default: '300' }),
    integer('metricEndTimeOffset', { default: '0' }),
    text('metricUnit'),
    text('awsAccountId'),
    ...aws,
  ],
  'aws-sqs-queue': [
    text('queueURL', { ...orEnv, ...required }),
    integer('queueLength', { default: '5' }),
    integer('activationQueueLength', { default: '0' }),
    boolean('scaleOnInFlight', { default: 'true' }),
    boolean('scaleOnDelayed', { default: 'false' }),
    ...aws,
  ],
  'aws-kinesis-stream': shards('streamName'),
  'aws-dynamodb-streams': shards('tableName'),
  'aws-dynamodb': [
    text('tableName', required),
    text('keyConditionExpression', required),
    text('expressionAttributeNames', required),
    text('expressionAttributeValues', required),
    text('indexName'),
    text('filterExpression'),
    integer('targetValue', { ...target, not: -1 }),
    integer('activationTargetValue', { default: '0' }),
    ...aws,
  ],
  kafka: [
    ...kafkaCommon,
    boolean('fullMetadata', { default: 'true', isNew: true }),
    text('version'),
    boolean('unsafeSsl', { default: 'false' }),
    text('sasl', {
      ...orAuth,
      oneOf: ['none', 'plaintext', 'scram_sha256', 'scram_sha512', 'oauthbearer', 'gssapi'],
    }),
    text('saslTokenProvider', { ...orAuth, oneOf: ['bearer', 'aws_msk_iam'] }),
    ...authOnlyFields('scopes oauthTokenEndpointUri oauthExtensions'),
    ...authOnlyFields('keytab realm kerberosConfig kerberosServiceName kerberosDisableFAST'),
  ],
  'apache-kafka': [
    ...kafkaCommon,
    text('sasl', {
      ...orAuth,
      default: 'none',
      oneOf: ['none', 'plaintext', 'scram_sha256', 'scram_sha512', 'gssapi', 'aws_msk_iam'],
    }),
  ],
  cron: [
    text('start', required),
    text('end', required),
    text('timezone', required),
    integer('desiredReplicas', { ...required, not: 0 }),
  ],
  cpu: resource,
  memory: resource,
  'metrics-api': [
    text('url', required),
    text('valueLocation', required),
    number('targetValue', { ...target, not: 0 }),
    number('activationTargetValue', { default: '0' }),
    text('format', { default: 'json', oneOf: ['json', 'prometheus', 'xml', 'yaml'] }),
    boolean('aggregateFromKubeServiceEndpoints', { default: 'false' }),
    text('aggregationType', { default: 'average', oneOf: ['average', 'sum', 'max', 'min'] }),
    boolean('unsafeSsl', { default: 'false' }),
    duration('timeout'),
    ...httpAuth,
  ],
  rabbitmq: [
    text('queueName', required),
    text('host', { ...anywhere, ...required }),
    text('protocol', { ...orAuth, default: 'auto' }),
    text('mode', { default: 'Unknown' }),
    number('value', { default: '0' }),
    number('queueLength', { default: '0' }),
    number('activationValue', { default: '0' }),
    text('vhostName', orAuth),
    boolean('useRegex', { default: 'false' }),
    boolean('excludeUnacknowledged', { default: 'false' }),
    integer('pageSize', { default: '100', atLeast: 1 }),
    text('operation', { default: 'sum' }),
    duration('timeout'),
    boolean('unsafeSsl', { default: 'false' }),
    text('username', notMetadata),
    text('password', notMetadata),
    text('tls', { ...authOnly, default: 'disable' }),
    ...authOnlyFields('cert key keyPassword ca workloadIdentityResource'),
    ...authOnlyFields('oauthTokenURI clientID clientSecret scopes endpointParams'),
  ],
  redis: redisList,
  'redis-cluster': redisList,
  'redis-sentinel': redisList,
  'redis-streams': redisStreams,
  'redis-cluster-streams': redisStreams,
  'redis-sentinel-streams': redisStreams,
  'nats-jetstream': [
    text('stream', required),
    text('consumer', required),
    text('natsServerMonitoringEndpoint', { ...authFirst, ...required }),
    text('account', authFirst),
    text('accountID', authFirst),
    integer('lagThreshold', { default: '10' }),
    integer('activationLagThreshold', { default: '0' }),
    boolean('useHttps', { default: 'false' }),
  ],
  external,
  'external-push': external,
  loki: [
    text('serverAddress', required),
    text('query', required),
    number('threshold', required),
    number('activationThreshold', { default: '0' }),
    text('tenantName'),
    boolean('ignoreNullValues', { default: 'true' }),
    boolean('unsafeSsl', { default: 'false' }),
    ...httpAuth,
  ],
  graphite: [
    text('serverAddress', required),
    text('query', required),
    text('queryTime', required),
    number('threshold', { default: '100' }),
    number('activationThreshold', { default: '0' }),
    text('authMode'),
    ...authOnlyFields('username password'),
  ],
  datadog: [
    text('query'),
    number('targetValue|queryValue', { ...target, not: -1 }),
    text('queryAggregator', { oneOf: ['average', 'max'] }),
    number('activationQueryValue', { default: '0' }),
    integer('age', { default: '90', atLeast: 0 }),
    integer('timeWindowOffset', { default: '0', atLeast: 0 }),
    integer('lastAvailablePointOffset', { default: '0', atLeast: 0 }),
    number('metricUnavailableValue'),
    text('hpaMetricName'),
    duration('timeout'),
    text('type'),
    boolean('useClusterAgentProxy', { default: 'false' }),
    text('datadogMetricName'),
    text('datadogMetricNamespace'),
    number('activationTargetValue', { default: '0' }),
    ...authOnlyFields('apiKey appKey datadogSite datadogNamespace datadogMetricsService'),
    ...authOnlyFields('datadogMetricsServicePort unsafeSsl authMode token'),
  ],
  postgresql: [
    text('query', required),
    number('targetQueryValue', { ...target, not: 0 }),
    number('activationTargetQueryValue', { default: '0' }),
    text('connection', notMetadata),
    text('host', authFirst),
    text('port', authFirst),
    text('userName', authFirst),
    text('dbName', authFirst),
    text('sslmode', authFirst),
    text('password', notMetadata),
  ],
  'kubernetes-workload': [
    text('podSelector', required),
    number('value', { ...target, above: 0 }),
    number('activationValue', { default: '0' }),
    boolean('groupByNode', { default: 'false' }),
    text('namespace'),
  ],
  'new-relic': [
    integer('account', { ...authFirst, ...required }),
    text('queryKey', { ...authFirst, ...required }),
    text('region', { ...authFirst, default: 'US' }),
    text('nrql', required),
    number('threshold', required),
    number('activationThreshold', { default: '0' }),
    boolean('noDataError', { default: 'false' }),
  ],
  influxdb: [
    text('serverURL', { ...orAuth, ...required }),
    text('query', required),
    number('thresholdValue', { ...target, not: 0 }),
    number('activationThresholdValue', { default: '0' }),
    text('influxVersion', { default: '2' }),
    text('organizationName', anywhere),
    text('database', orAuth),
    text('metricKey'),
    text('queryType', { default: 'influxql' }),
    boolean('unsafeSsl', { default: 'false' }),
    text('authToken', notMetadata),
  ],
  temporal: [
    text('endpoint', { ...orEnv, ...required }),
    text('taskQueue', { ...orEnv, ...required }),
    text('namespace', { ...orEnv, default: 'default' }),
    integer('targetQueueSize', { default: '5', atLeast: 0 }),
    integer('activationTargetQueueSize', { default: '0', atLeast: 0 }),
    text('queueTypes'),
    text('workerDeploymentName', orEnv),
    text('workerDeploymentBuildId', orEnv),
    text('buildId', orEnv),
    boolean('selectAllActive', { default: 'false' }),
    boolean('selectUnversioned', { default: 'false' }),
    integer('minConnectTimeout', { default: '5', atLeast: 0 }),
    boolean('unsafeSsl', { default: 'false' }),
    text('tlsServerName'),
    boolean('enableTLS', { default: 'true', isNew: true }),
    boolean('includeRunningWorkflowCount', { default: 'false', isNew: true }),
    text('workflowTaskQueueForCount', { ...orEnv, isNew: true }),
    text('apiKey', notMetadata),
    ...authOnlyFields('cert key keyPassword ca'),
  ],
};
