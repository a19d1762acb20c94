/**
 * All names of trigger types that KEDA knows (kedacore/keda pkg/scaling/scalers_builder.go, commit 8b4f083, 2026-08).
 * `clickhouse` and `gcp-spanner` came after release 2.20.2.
 */
export const triggerTypes: ReadonlySet<string> = new Set(
  `activemq apache-kafka arangodb artemis-queue aws-cloudwatch aws-dynamodb aws-dynamodb-streams aws-kinesis-stream
  aws-sqs-queue azure-app-insights azure-blob azure-data-explorer azure-eventhub azure-log-analytics azure-monitor
  azure-pipelines azure-queue azure-servicebus beanstalkd cassandra clickhouse couchdb cpu cron datadog dynatrace
  elastic-forecast elasticsearch etcd external external-mock external-push forgejo-runner gcp-cloudtasks gcp-pubsub
  gcp-spanner gcp-stackdriver gcp-storage github-runner graphite huawei-cloudeye ibmmq influxdb kafka
  kubernetes-resource kubernetes-workload liiklus loki memory metrics-api mongodb mssql mysql nats-jetstream new-relic
  nsq opensearch openstack-metric openstack-swift postgresql predictkube prometheus pulsar rabbitmq redis redis-cluster
  redis-cluster-streams redis-sentinel redis-sentinel-streams redis-streams selenium-grid solace-direct-messaging
  solace-event-queue solarwinds solr splunk splunk-observability sumologic temporal`.split(/\s+/),
);

/** Types of builds of KEDA by others, which KEDA itself does not have. */
export function isForeignType(type: string): boolean {
  return /^kedify-/.test(type);
}

/** Whether a trigger reads the CPU or memory of the target's pods through the HPA itself, without KEDA. */
export function isResourceType(type: string): boolean {
  return type === 'cpu' || type === 'memory';
}
