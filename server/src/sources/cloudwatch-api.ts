import type {
  CloudWatchClient,
  DescribeAlarmsCommandInput,
  DescribeAlarmsCommandOutput,
  GetMetricDataCommandInput,
  GetMetricDataCommandOutput,
} from '@aws-sdk/client-cloudwatch';
import type {
  CloudWatchLogsClient,
  GetQueryResultsCommandOutput,
  StartQueryCommandInput,
} from '@aws-sdk/client-cloudwatch-logs';
import { credentialsOf, quietSdk, type AwsAccess } from './aws';
import { SourceError, asSourceError, firstLine } from './failure';
import type { Redactor } from './redact';
import { within, type Clock } from './runtime';

/** What is asked of CloudWatch: reading only, but for the end of a query of ours. */
export interface CloudWatchApi {
  getMetricData(input: GetMetricDataCommandInput, signal: AbortSignal): Promise<GetMetricDataCommandOutput>;
  describeAlarms(
    input: DescribeAlarmsCommandInput,
    signal: AbortSignal,
  ): Promise<DescribeAlarmsCommandOutput>;
  startQuery(input: StartQueryCommandInput, signal: AbortSignal): Promise<string>;
  getQueryResults(queryId: string, signal: AbortSignal): Promise<GetQueryResultsCommandOutput>;
  stopQuery(queryId: string, signal: AbortSignal): Promise<void>;
  dispose(): void;
}

export interface CloudWatchAccess extends AwsAccess {
  /** In the place of the endpoints of the region. */
  readonly endpoint?: string | undefined;
}

/** The actions of IAM, and on what. */
export const actions = {
  getMetricData: ['cloudwatch:GetMetricData', '*'],
  describeAlarms: ['cloudwatch:DescribeAlarms', '*'],
  startQuery: ['logs:StartQuery', 'the log groups that are queried'],
  getQueryResults: ['logs:GetQueryResults', '*'],
  stopQuery: ['logs:StopQuery', '*'],
} as const;

const refused =
  /^(AccessDenied|AccessDeniedException|UnauthorizedOperation|NotAuthorized|AuthorizationError)/;
const unknownCaller =
  /^(UnrecognizedClient|InvalidClientTokenId|ExpiredToken|SignatureDoesNotMatch|InvalidSignature|IncompleteSignature|MissingAuthenticationToken|CredentialsProviderError|TokenProviderError|InvalidAccessKeyId|RequestExpired)/;

/** Makes clients of the AWS SDK. They are loaded, and credentials looked for, with the first question. */
export function cloudWatchApi(
  access: CloudWatchAccess,
  redactor: Redactor,
  clock: Clock,
  timeoutMs = 15_000,
): CloudWatchApi {
  const common = {
    region: access.region,
    credentials: credentialsOf(access, redactor),
    maxAttempts: 2,
    ...(access.endpoint === undefined ? {} : { endpoint: access.endpoint }),
  };
  let metrics:
    | Promise<{
        readonly sdk: typeof import('./sdk/aws');
        readonly client: CloudWatchClient;
      }>
    | undefined;
  let logs:
    | Promise<{
        readonly sdk: typeof import('./sdk/aws');
        readonly client: CloudWatchLogsClient;
      }>
    | undefined;
  const metricsClient = () =>
    (metrics ??= load(() => import('./sdk/aws')).then((sdk) => ({
      sdk,
      client: new sdk.CloudWatchClient(common),
    })));
  const logsClient = () =>
    (logs ??= load(() => import('./sdk/aws')).then((sdk) => ({
      sdk,
      client: new sdk.CloudWatchLogsClient(common),
    })));

  const call = async <T>(
    name: keyof typeof actions,
    signal: AbortSignal,
    work: (inner: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await within(clock, timeoutMs, signal, work);
    } catch (error) {
      if (signal.aborted) throw new SourceError('cancelled', `${name}: cancelled`);
      throw failureOf(error, name, redactor);
    }
  };
  return {
    getMetricData: (input, signal) =>
      call('getMetricData', signal, async (abortSignal) => {
        const { sdk, client } = await metricsClient();
        return client.send(new sdk.GetMetricDataCommand(input), { abortSignal });
      }),
    describeAlarms: (input, signal) =>
      call('describeAlarms', signal, async (abortSignal) => {
        const { sdk, client } = await metricsClient();
        return client.send(new sdk.DescribeAlarmsCommand(input), { abortSignal });
      }),
    startQuery: (input, signal) =>
      call('startQuery', signal, async (abortSignal) => {
        const { sdk, client } = await logsClient();
        const { queryId } = await client.send(new sdk.StartQueryCommand(input), { abortSignal });
        if (queryId === undefined) throw new SourceError('malformed', 'StartQuery: the answer has no id');
        return queryId;
      }),
    getQueryResults: (queryId, signal) =>
      call('getQueryResults', signal, async (abortSignal) => {
        const { sdk, client } = await logsClient();
        return client.send(new sdk.GetQueryResultsCommand({ queryId }), { abortSignal });
      }),
    stopQuery: (queryId, signal) =>
      call('stopQuery', signal, async (abortSignal) => {
        const { sdk, client } = await logsClient();
        await client.send(new sdk.StopQueryCommand({ queryId }), { abortSignal });
      }),
    dispose: () => {
      void metrics?.then(({ client }) => client.destroy()).catch(() => undefined);
      void logs?.then(({ client }) => client.destroy()).catch(() => undefined);
    },
  };
}

function load<T>(start: () => Promise<T>): Promise<T> {
  quietSdk();
  return start();
}

/** An error of the SDK in our words. `AccessDenied` names the user and the action; the ARN of the user stays out. */
function failureOf(error: unknown, name: keyof typeof actions, { redact }: Redactor): SourceError {
  if (error instanceof SourceError) return error;
  const [action, resource] = actions[name];
  const what = action.replace(/^\w+:/, '');
  const { name: code = '', $metadata } = error as {
    readonly name?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const words = error instanceof Error ? firstLine(redact(error.message)) : '';
  if (refused.test(code) || ($metadata?.httpStatusCode === 403 && !unknownCaller.test(code)))
    return new SourceError('denied', `${what}: ${code === '' ? '403 Forbidden' : code}`, {
      kind: 'iam',
      action,
      resource,
    });
  if (unknownCaller.test(code) || $metadata?.httpStatusCode === 401)
    return new SourceError('unauthenticated', `${what}: AWS does not accept the credentials (${code})`);
  if (/throttl|LimitExceeded|TooManyRequests/i.test(code))
    return new SourceError('throttled', `${what}: ${code}`);
  if (code === 'ResourceNotFoundException') return new SourceError('not-found', `${what}: ${words}`);
  if (error instanceof SyntaxError || /deserializ|unexpected token|not valid JSON/i.test(words))
    return new SourceError('malformed', `${what}: the answer is not one of CloudWatch`);
  if (code !== '' && code !== 'Error' && $metadata?.httpStatusCode !== undefined)
    return new SourceError('failed', `${what}: ${code}${words === '' || words === code ? '' : `: ${words}`}`);
  return asSourceError(error, what, redact);
}
