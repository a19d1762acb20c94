/** What is used of the AWS SDK, loaded with the first question to AWS; a bundle of its own, as that of Kubernetes. */
export { CloudWatchClient, DescribeAlarmsCommand, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
export {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
export { defaultProvider } from '@aws-sdk/credential-provider-node';
export { SignatureV4 } from '@smithy/signature-v4';
