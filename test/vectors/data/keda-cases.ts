/**
 * Triggers and what KEDA's own parsers said of them at commit 8b4f083 (2026-08).
 *
 * - `taken`: no error, even without authentication
 * - `auth`: an error without authentication and environment, none with the right ones
 * - `refused`: an error whatever the authentication says
 */
export type KedaVerdict = 'taken' | 'auth' | 'refused';

/** What differs from the base of its type; `null` takes a name away. */
export type KedaChanges = Readonly<Record<string, string | null>>;

export interface KedaType {
  readonly base: Readonly<Record<string, string>>;
  readonly cases: readonly (readonly [verdict: KedaVerdict, changes: KedaChanges, metricType?: string])[];
}

const hosts = { hosts: 'a, b, c', ports: '1, 2, 3' };
const dynamo = { expressionAttributeNames: '{ "#yr" : "year" }' };

export const kedaCases: Readonly<Record<string, KedaType>> = {
  prometheus: {
    base: { serverAddress: 'http://prometheus:9090', query: 'up', threshold: '100' },
    cases: [
      ['taken', {}],
      ['taken', { metricName: 'requests', activationThreshold: '50' }],
      ['refused', { serverAddress: null, query: null, threshold: null }],
      ['refused', { threshold: null }],
      ['refused', { activationThreshold: 'one' }],
      ['refused', { ignoreNullValues: 'xxxx' }],
      ['taken', { customHeaders: 'key1=value1,key2=value2' }],
      ['taken', { queryParameters: 'key1=value1,key2=value2' }],
      ['taken', { timeout: '1000' }],
      ['refused', { timeout: 'a' }],
      ['auth', { authModes: 'tls' }],
      ['auth', { authModes: 'bearer' }],
      ['auth', { authModes: 'tls,basic' }],
      ['auth', { authModes: 'custom' }],
    ],
  },
  'aws-cloudwatch': {
    base: {
      awsRegion: 'eu-west-1',
      namespace: 'AWS/SQS',
      metricName: 'ApproximateNumberOfMessagesVisible',
      dimensionName: 'QueueName',
      dimensionValue: 'jobs',
      targetMetricValue: '2',
      minMetricValue: '0',
    },
    cases: [
      ['auth', {}],
      ['taken', { identityOwner: 'operator' }],
      ['auth', { awsRegion: '' }],
      ['refused', { dimensionName: null }],
      ['refused', { metricName: null }],
      ['auth', { dimensionName: 'QueueName;Region', dimensionValue: 'jobs;us-west-2' }],
      ['auth', { metricStatPeriod: '300', metricCollectionTime: '300' }],
      ['auth', { metricStatPeriod: '60' }],
      ['refused', { metricStatPeriod: 'a', identityOwner: 'operator' }],
      ['refused', { metricStatPeriod: '250' }],
      ['refused', { metricStatPeriod: '25', metricUnit: 'Hour' }],
      ['auth', { metricUnit: 'Count', metricEndTimeOffset: '60' }],
    ],
  },
  'aws-sqs-queue': {
    base: {
      awsRegion: 'eu-west-1',
      queueURL: 'https://sqs.eu-west-1.amazonaws.com/account/jobs',
      queueLength: '1',
    },
    cases: [
      ['auth', {}],
      ['taken', { identityOwner: 'operator' }],
      ['auth', { queueURL: 'jobs' }],
      ['auth', { queueURL: null, queueURLFromEnv: 'QUEUE_URL' }],
      ['refused', { queueURL: null }],
      ['refused', { queueURL: 'https://sqs.eu-west-1.amazonaws.com' }],
      ['refused', { queueLength: 'a' }],
      ['refused', { activationQueueLength: 'a' }],
      ['auth', { scaleOnDelayed: 'true', scaleOnInFlight: 'true' }],
    ],
  },
  'aws-kinesis-stream': {
    base: { awsRegion: 'eu-west-1', streamName: 'events', shardCount: '2' },
    cases: [
      ['auth', { activationShardCount: '1' }],
      ['refused', { streamName: '' }],
      ['auth', { shardCount: '', activationShardCount: '' }],
      ['taken', { identityOwner: 'operator' }],
    ],
  },
  'aws-dynamodb': {
    base: {
      awsRegion: 'eu-west-1',
      tableName: 'films',
      keyConditionExpression: '#yr = :yyyy',
      ...dynamo,
      expressionAttributeValues: '{":yyyy": {"N": "1994"}}',
      targetValue: '3',
    },
    cases: [
      ['auth', {}],
      ['auth', { indexName: 'by-year' }],
      ['refused', { awsRegion: null, keyConditionExpression: null }],
      ['refused', { expressionAttributeNames: null }],
      ['refused', { expressionAttributeNames: '{}' }],
      ['refused', { targetValue: null }],
      ['refused', { activationTargetValue: 'no-valid' }],
    ],
  },
  kafka: {
    base: { bootstrapServers: 'broker:9092', consumerGroup: 'workers', topic: 'jobs' },
    cases: [
      ['taken', {}],
      ['refused', { consumerGroup: null, topic: null }],
      ['taken', { topic: null, partitionLimitation: '1,2,3,4,5,6' }],
      ['taken', { partitionLimitation: '1-4,8,10-12' }],
      ['refused', { lagThreshold: '-1' }],
      ['taken', { lagThreshold: '1000000', activationLagThreshold: '0' }],
      ['refused', { offsetResetPolicy: 'foo' }],
      ['refused', { allowIdleConsumers: 'notvalid' }],
      ['refused', { limitToPartitionsWithLag: 'notvalid' }],
      ['taken', { allowIdleConsumers: 'true', limitToPartitionsWithLag: 'false' }],
      ['taken', { fullMetadata: 'false' }],
      ['refused', { fullMetadata: 'notabool' }],
      ['auth', { sasl: 'plaintext' }],
      ['auth', { sasl: 'scram_sha512' }],
      ['taken', { tls: 'enable' }],
      ['auth', { sasl: 'oauthbearer', tls: 'disable' }],
      ['auth', { sasl: 'gssapi', tls: 'disable' }],
      ['refused', { sasl: 'foo' }],
    ],
  },
  'apache-kafka': {
    base: { bootstrapServers: 'broker:9092', consumerGroup: 'workers', topic: 'jobs' },
    cases: [
      ['taken', { topic: null, partitionLimitation: '     ' }],
      ['refused', { partitionLimitation: 'a,b,c,d' }],
      ['taken', { topic: null, ensureEvenDistributionOfPartitions: 'true' }],
      ['taken', { sasl: 'scram_sha256' }],
      ['auth', { sasl: 'plaintext', tls: 'enable' }],
      ['refused', { sasl: 'foo', tls: 'enable' }],
    ],
  },
  cron: {
    base: { start: '30 * * * *', end: '45 * * * *', timezone: 'Asia/Kolkata', desiredReplicas: '10' },
    cases: [
      ['taken', { start: '0 0 * * Thu', end: '59 23 * * Thu' }],
      ['taken', { start: '0,30 * * * *', end: '15,45 * * * *' }],
      ['refused', { timezone: null }],
      ['taken', { end: '45-50 * * * *' }],
      ['refused', { end: '-50 * * * *' }],
      ['refused', { end: '30 * * * *' }],
    ],
  },
  memory: {
    base: { value: '50' },
    cases: [
      ['taken', {}, 'Utilization'],
      ['taken', {}, 'AverageValue'],
      ['refused', {}, 'Value'],
      ['refused', { value: '' }],
      ['taken', { containerName: 'server' }, 'Utilization'],
    ],
  },
  'metrics-api': {
    base: { url: 'http://queue:1230/api/v1/', valueLocation: 'metric', targetValue: '42' },
    cases: [
      ['taken', {}],
      ['refused', { activationTargetValue: 'aa' }],
      ['refused', { url: null, targetValue: 'aa' }],
      ['auth', { authMode: 'tls' }],
      ['auth', { authMode: 'apiKey' }],
      ['taken', { unsafeSsl: 'true' }],
      ['refused', { unsafeSsl: 'yes' }],
    ],
  },
  rabbitmq: {
    base: { queueName: 'jobs', host: 'https://' },
    cases: [
      ['auth', { host: null, hostFromEnv: 'RABBIT' }],
      ['refused', { queueLength: 'AA' }],
      ['refused', { queueName: null, queueLength: '10' }],
      ['taken', { host: 'rabbit', protocol: 'http', queueLength: '10' }],
      ['refused', { mode: 'QueueLength', queueLength: '10' }],
      ['refused', { mode: 'QueueLength', queueLength: '10', value: '20' }],
      ['refused', { value: '20' }],
      ['refused', { mode: 'Feelings', value: '20' }],
      ['taken', { host: 'amqps://', mode: 'QueueLength', value: '20' }],
      ['auth', { host: 'amqp://', mode: 'MessageRate', value: '1000' }],
      ['taken', { mode: 'DeliverGetRate', value: '1000', useRegex: 'true' }],
      ['refused', { mode: 'QueueLength', value: '1000', timeout: 'error' }],
      ['refused', { mode: 'DeliverGetRate', value: '1000', pageSize: '-1' }],
      ['auth', { host: null, hostFromEnv: 'RABBIT', passwordFromEnv: 'PASSWORD' }],
    ],
  },
  redis: {
    base: { listName: 'jobs', listLength: '10' },
    cases: [
      ['auth', { addressFromEnv: 'REDIS', passwordFromEnv: 'PASSWORD' }],
      ['taken', { host: 'redis', port: '6379' }],
      ['auth', { address: '', password: '' }],
      ['refused', { address: 'redis:6379', activationListLength: 'AA' }],
      ['auth', { enableTLS: 'true' }],
    ],
  },
  'redis-cluster': {
    base: { listName: 'jobs', ...hosts },
    cases: [
      ['taken', { usernameFromEnv: 'USER' }],
      ['refused', { listName: null }],
      ['auth', { hosts: null, ports: null, enableTLS: 'true', unsafeSsl: 'true' }],
    ],
  },
  'redis-sentinel': {
    base: { listName: 'jobs', ...hosts },
    cases: [
      ['taken', { sentinelMaster: 'main' }],
      ['refused', { listName: null, ports: '1, 2' }],
      ['refused', { listLength: 'invalid' }],
    ],
  },
  'redis-streams': {
    base: { stream: 'jobs', consumerGroup: 'workers', host: 'redis', port: '6379' },
    cases: [
      ['auth', { host: null, lagCount: '5', pendingEntriesCount: '5' }],
      ['refused', { lagCount: 'junk' }],
      ['refused', { consumerGroup: null, streamLength: 'junk' }],
      ['refused', { databaseIndex: '1', enableTLS: 'no', pendingEntriesCount: '15' }],
    ],
  },
  'nats-jetstream': {
    base: { account: '$G', consumer: 'pull', natsServerMonitoringEndpoint: 'nats:8222', stream: 'jobs' },
    cases: [
      ['taken', { activationLagThreshold: '10' }],
      ['taken', { account: null, accountID: '$G' }],
      ['auth', { account: null }],
      ['auth', { natsServerMonitoringEndpoint: null }],
      ['refused', { consumer: null }],
      ['refused', { useHttps: 'error' }],
      ['refused', { lagThreshold: 'Y' }],
    ],
  },
  'external-push': {
    base: { scalerAddress: 'scaler:9090' },
    cases: [
      ['taken', { enableTLS: 'true', insecureSkipVerify: 'true', anything: '7' }],
      ['refused', { scalerAddress: null, anything: '1' }],
    ],
  },
  datadog: {
    base: { query: 'sum:hits{env:none}.as_count()', queryValue: '7' },
    cases: [
      ['auth', { type: 'average', metricUnavailableValue: '1.5', lastAvailablePointOffset: '1' }],
      ['refused', { type: 'average' }, 'AverageValue'],
      ['auth', { timeout: '500ms' }],
      ['auth', { timeout: '30' }],
      ['refused', { timeout: '-10s' }],
      ['refused', { queryValue: null }],
      ['refused', { query: 'sum:hits' }],
      [
        'auth',
        {
          query: null,
          queryValue: null,
          useClusterAgentProxy: 'true',
          datadogMetricName: 'hits',
          datadogMetricNamespace: 'default',
          targetValue: '2',
        },
      ],
      ['refused', { useClusterAgentProxy: 'true', datadogMetricName: 'hits' }],
    ],
  },
  postgresql: {
    base: {
      query: 'SELECT 1',
      targetQueryValue: '5',
      host: 'db',
      port: '5432',
      userName: 'me',
      dbName: 'jobs',
      sslmode: 'require',
    },
    cases: [
      ['taken', { passwordFromEnv: 'PASSWORD' }],
      ['refused', { query: null, targetQueryValue: null }],
      [
        'auth',
        { connectionFromEnv: 'DB', host: null, port: null, userName: null, dbName: null, sslmode: null },
      ],
    ],
  },
  'kubernetes-workload': {
    base: { podSelector: 'app=demo', value: '1' },
    cases: [
      ['taken', { podSelector: 'app in (demo1, demo2)', groupByNode: 'true' }],
      ['refused', { podSelector: null }],
      ['refused', { value: '0' }],
      ['refused', { groupByNode: 'invalid' }],
    ],
  },
  influxdb: {
    base: {
      serverURL: 'https://influx',
      organizationName: 'org',
      query: 'from(bucket: jobs)',
      thresholdValue: '10',
    },
    cases: [
      ['taken', { metricName: 'm', unsafeSsl: 'false' }],
      ['auth', { serverURL: null }],
      ['refused', { query: null }],
      ['refused', { influxVersion: '1', database: 'db', metricKey: 'k' }],
      ['taken', { influxVersion: '3', database: 'db', metricKey: 'k', queryType: 'FlightSQL' }],
      ['refused', { influxVersion: '3', database: 'db' }],
    ],
  },
  'new-relic': {
    base: { account: '0', queryKey: 'key', nrql: 'SELECT 1', threshold: '100' },
    cases: [
      ['taken', { region: 'EU', activationThreshold: '20' }],
      ['auth', { account: null }],
      ['refused', { activationThreshold: 'notanint' }],
      ['refused', { nrql: null }],
      ['taken', { noDataError: '0' }],
    ],
  },
  temporal: {
    base: { endpoint: 'temporal:7233', taskQueue: 'jobs' },
    cases: [
      ['taken', { activationTargetQueueSize: '10', namespace: 'v2' }],
      ['refused', { minConnectTimeout: '-1' }],
      ['refused', { workerDeploymentBuildId: 'v1' }],
      ['refused', { workerDeploymentBuildId: 'v1', workerDeploymentName: 'd', selectAllActive: 'true' }],
      ['taken', { buildId: 'v1' }],
      ['taken', { includeRunningWorkflowCount: 'true' }],
      ['refused', { includeRunningWorkflowCount: 'true', taskQueue: "bad queue' OR '1'='1" }],
      [
        'auth',
        {
          endpoint: null,
          endpointFromEnv: 'E',
          taskQueue: null,
          taskQueueFromEnv: 'Q',
          namespaceFromEnv: 'N',
        },
      ],
    ],
  },
  loki: {
    base: { serverAddress: 'http://loki:3100', query: 'sum(rate({app="a"}[1m]))', threshold: '1' },
    cases: [
      ['taken', { ignoreNullValues: 'false' }],
      ['refused', { serverAddress: '' }],
      ['refused', { query: '' }],
      ['refused', { threshold: 'one' }],
      ['auth', { authModes: 'basic' }],
    ],
  },
  graphite: {
    base: { serverAddress: 'http://graphite:81', query: 'stats.hits.count', queryTime: '-30Seconds' },
    cases: [
      ['taken', { threshold: '100', activationThreshold: '23' }],
      ['refused', { query: '' }],
      ['auth', { authMode: 'basic' }],
      ['refused', { authMode: 'tls' }],
    ],
  },
};
