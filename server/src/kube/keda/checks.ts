import { parseQuantity } from '../quantity';
import { all, any, not, truth, type Truth } from '../truth';
import { cronProblem } from './cron';
import { cloudWatchUnits } from './fields';
import { parseRequestUri, parseUrl } from './go-url';
import { isLabelSelector } from './label-selector';
import type { ProblemPlace, Reading, TriggerReader } from './trigger';
import { isKafkaVersion, isPartitionList, readDecimal } from './values';

/** What a trigger type wants beyond the form of its single fields. */
export type TriggerCheck = (reader: TriggerReader) => void;

function value(name: string): ProblemPlace {
  return { part: 'value', name };
}

/** The place of a field that was read: its value in the metadata, else its name there. */
function placeOf(found: Reading, name: string): ProblemPlace {
  return value(found.state === 'value' ? found.name : name);
}

/** Whether the text of a field, when there is some, passes a test. */
function passes(found: Reading, test: (text: string) => boolean): Truth {
  if (found.state === 'value') return truth(test(found.text));
  return found.state === 'absent' ? 'yes' : 'unknown';
}

/** Several fields of which each is missing when nothing is given. */
function need(reader: TriggerReader, unless: Truth, names: readonly string[]): void {
  for (const name of names) {
    const missing = all([not(unless), not(reader.given(name))]);
    reader.refuse(missing, { part: 'key', name }, name, { topic: 'missing' });
  }
}

/** A parameter that only a TriggerAuthentication can bring. */
function needAuth(
  reader: TriggerReader,
  when: Truth,
  at: ProblemPlace,
  names: readonly string[],
  what: string,
): void {
  const lacking = names.filter((name) => reader.given(name) === 'no');
  reader.refuse(
    all([when, any(names.map((name) => not(reader.given(name))))]),
    at,
    `${what} needs ${lacking.join(' and ')} from a TriggerAuthentication`,
  );
}

/**
 * pkg/scalers/aws/aws_common.go. An identityOwner other than `pod`, whatever it says, is the operator's own identity;
 * its spaces count.
 */
function awsCredentials(reader: TriggerReader, when: Truth = 'yes'): void {
  const { trigger, auth } = reader;
  const owner = trigger.metadata.get('identityOwner');
  const ownerIsPod: Truth = trigger.metadata.has('identityOwner')
    ? owner === undefined
      ? 'unknown'
      : truth(owner === '' || owner === 'pod')
    : trigger.open
      ? 'unknown'
      : 'yes';
  // The provider aws-eks brings the role of the service account as a parameter.
  const identity: Truth =
    auth.podIdentity === undefined
      ? 'unknown'
      : truth(auth.podIdentity === 'aws' || auth.podIdentity === 'aws-eks');
  const keys = all([
    any([reader.given('awsAccessKeyID'), reader.given('awsAccessKeyId')]),
    reader.given('awsSecretAccessKey'),
  ]);
  const found = any([identity, reader.given('awsRoleArn'), keys]);
  reader.refuse(
    all([when, ownerIsPod, not(found)]),
    trigger.metadata.has('identityOwner') ? value('identityOwner') : { part: 'type' },
    `the trigger has no AWS credentials: no TriggerAuthentication with pod identity "aws", no role and no keys, and identityOwner is not "operator"`,
  );
}

/** The modes of the HTTP authentication and the parameters that each needs. */
const modeNeeds: Readonly<Record<string, readonly string[]>> = {
  bearer: ['bearerToken'],
  basic: ['username'],
  tls: ['cert', 'key'],
  custom: ['customAuthHeader', 'customAuthValue'],
  oauth: ['oauthTokenURI', 'clientID'],
  apiKey: ['apiKey'],
};

function httpAuth(reader: TriggerReader): void {
  const modes = reader.read('authModes');
  if (modes.state !== 'value') return;
  for (const mode of modes.text.split(',').map((part) => part.trim())) {
    const names = modeNeeds[mode];
    if (names !== undefined) needAuth(reader, 'yes', value(modes.name), names, `${modes.name} "${mode}"`);
  }
}

const prometheus: TriggerCheck = (reader) => {
  httpAuth(reader);
  const modes = reader.read('authModes');
  const { podIdentity } = reader.auth;
  reader.refuse(
    all([
      modes.state === 'unknown' ? 'unknown' : truth(modes.state === 'value'),
      podIdentity === undefined ? 'unknown' : truth(podIdentity !== '' && podIdentity !== 'none'),
    ]),
    placeOf(modes, 'authModes'),
    `authModes and pod identity "${podIdentity ?? ''}" cannot be used together`,
  );
};

const cloudWatch: TriggerCheck = (reader) => {
  const hasExpression = reader.given('expression');
  need(reader, hasExpression, ['namespace', 'metricName', 'dimensionName', 'dimensionValue']);
  const names = reader.read('dimensionName');
  const values = reader.read('dimensionValue');
  if (names.state === 'value' && values.state === 'value') {
    const [left, right] = [names.text.split(';').length, values.text.split(';').length];
    reader.refuse(
      all([not(hasExpression), truth(left !== right)]),
      value('dimensionValue'),
      `dimensionName has ${left} entr${left === 1 ? 'y' : 'ies'} and dimensionValue ${right}`,
    );
  }
  const unit = reader.read('metricUnit');
  if (unit.state === 'value') {
    reader.refuse(
      all([not(hasExpression), truth(!cloudWatchUnits.includes(unit.text))]),
      value('metricUnit'),
      `metricUnit "${unit.text}" is none of CloudWatch's units, whose case counts`,
      suggest(cloudWatchUnits.find((each) => each.toLowerCase() === unit.text.toLowerCase())),
    );
  }
  cloudWatchWindow(reader);
  awsCredentials(reader);
};

function suggest(suggestion: string | undefined): { readonly suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion };
}

/** Periods that CloudWatch has: 1, 5, 10, 30, 60 and multiples of 60 seconds. */
export function isCloudWatchPeriod(seconds: number): boolean {
  return [1, 5, 10, 30].includes(seconds) || (seconds >= 60 && seconds % 60 === 0);
}

function cloudWatchWindow(reader: TriggerReader): void {
  const period = reader.number('metricStatPeriod');
  const window = reader.number('metricCollectionTime');
  const topic = 'cloudwatch-window';
  if (period !== undefined && !isCloudWatchPeriod(period)) {
    reader.refuse(
      'yes',
      value('metricStatPeriod'),
      `metricStatPeriod ${period} is none of CloudWatch's periods: 1, 5, 10, 30, 60 and multiples of 60 seconds`,
      { topic },
    );
    return;
  }
  if (window === undefined) return;
  const isWritten = reader.given('metricCollectionTime') === 'yes';
  const written = isWritten ? String(window) : `${window} (the default)`;
  const at = value(isWritten ? 'metricCollectionTime' : 'metricStatPeriod');
  reader.refuse(truth(window < 0), at, `metricCollectionTime ${written} is negative`, { topic });
  reader.refuse(
    truth(period !== undefined && window >= 0 && window % period !== 0),
    at,
    `metricCollectionTime ${written} is not a multiple of metricStatPeriod ${period ?? 0}`,
    { topic },
  );
}

const sqs: TriggerCheck = (reader) => {
  const queue = reader.read('queueURL');
  reader.refuse(
    not(
      passes(queue, (text) => {
        const url = parseRequestUri(text);
        if (url === undefined) return true;
        const parts = url.path.split('/');
        return parts.length === 3 && parts[2] !== '';
      }),
    ),
    placeOf(queue, 'queueURL'),
    `queueURL ${queue.state === 'value' && queue.from === 'metadata' ? `"${queue.text}" ` : ''}is neither a URL with the path /account/name nor the bare name of a queue`,
  );
  awsCredentials(reader);
};

const dynamo: TriggerCheck = (reader) => {
  const names = reader.read('expressionAttributeNames');
  reader.refuse(
    not(passes(names, isMapOfStrings)),
    placeOf(names, 'expressionAttributeNames'),
    'expressionAttributeNames is not a JSON map of strings with at least one entry',
  );
  const values = reader.read('expressionAttributeValues');
  reader.refuse(
    not(passes(values, isMapOfAttributes)),
    placeOf(values, 'expressionAttributeValues'),
    'expressionAttributeValues is not a JSON map of DynamoDB values such as {":year": {"N": "1994"}}',
  );
  awsCredentials(reader);
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function isMapOfStrings(text: string): boolean {
  const data = parseJson(text);
  if (!isObject(data)) return false;
  const values = Object.values(data);
  return values.length > 0 && values.every((each) => typeof each === 'string');
}

function isMapOfAttributes(text: string): boolean {
  const data = parseJson(text);
  return data === null || (isObject(data) && Object.values(data).every(isAttribute));
}

/** A value in DynamoDB's form, of the types that KEDA reads; a map without a type passes. */
function isAttribute(data: unknown): boolean {
  if (!isObject(data)) return false;
  const [first] = Object.entries(data);
  if (first === undefined) return true;
  const [type, content] = first;
  switch (type) {
    case 'S':
    case 'N':
    case 'B':
      return typeof content === 'string';
    case 'BOOL':
      return typeof content === 'boolean';
    case 'L':
      return Array.isArray(content) && content.every(isAttribute);
    case 'M':
      return isObject(content) && Object.values(content).every(isAttribute);
    case 'NULL':
      return true;
    default:
      return false;
  }
}

/** What both Kafka types check. */
function kafkaPartitions(reader: TriggerReader, form: 'decimal' | 'json'): void {
  const partitions = reader.read('partitionLimitation');
  reader.refuse(
    not(passes(partitions, (text) => isPartitionList(text, form))),
    value('partitionLimitation'),
    `partitionLimitation ${partitions.state === 'value' ? `"${partitions.text}" ` : ''}is not a list of partitions and ranges such as 1-4,8`,
  );
  reader.refuse(
    all([reader.isTrue('limitToPartitionsWithLag'), reader.isTrue('allowIdleConsumers')]),
    value('limitToPartitionsWithLag'),
    'limitToPartitionsWithLag and allowIdleConsumers cannot both be true',
  );
  reader.refuse(
    all([reader.isTrue('limitToPartitionsWithLag'), not(reader.given('topic'))]),
    value('limitToPartitionsWithLag'),
    'limitToPartitionsWithLag needs a topic',
  );
  reader.refuse(
    all([
      reader.is('tls', 'enable'),
      any([
        all([reader.given('cert'), not(reader.given('key'))]),
        all([reader.given('key'), not(reader.given('cert'))]),
      ]),
    ]),
    placeOf(reader.read('tls'), 'tls'),
    'tls has only one of cert and key in its TriggerAuthentication',
  );
}

function mskIam(reader: TriggerReader, when: Truth, at: ProblemPlace): void {
  reader.refuse(all([when, not(reader.is('tls', 'enable'))]), at, 'aws_msk_iam needs tls "enable"');
  reader.refuse(all([when, not(reader.given('awsRegion'))]), at, 'aws_msk_iam needs awsRegion');
  awsCredentials(reader, when);
}

const kafka: TriggerCheck = (reader) => {
  kafkaPartitions(reader, 'decimal');
  const even = reader.isTrue('ensureEvenDistributionOfPartitions');
  const place = value('ensureEvenDistributionOfPartitions');
  reader.refuse(
    all([even, reader.isTrue('limitToPartitionsWithLag')]),
    place,
    'ensureEvenDistributionOfPartitions and limitToPartitionsWithLag cannot both be true',
  );
  reader.refuse(
    all([even, not(reader.given('topic'))]),
    place,
    'ensureEvenDistributionOfPartitions needs a topic',
  );
  reader.refuse(
    all([reader.given('fullMetadata'), not(reader.isTrue('fullMetadata')), not(reader.given('topic'))]),
    value('fullMetadata'),
    'fullMetadata "false" needs a topic',
    { isNew: true },
  );
  const version = reader.read('version');
  reader.refuse(
    not(passes(version, isKafkaVersion)),
    value('version'),
    `version ${version.state === 'value' ? `"${version.text}" ` : ''}is not a version of Kafka such as 3.6.0`,
  );
  const sasl = reader.read('sasl');
  const at = placeOf(sasl, 'sasl');
  const user = ['username', 'password'];
  for (const mode of ['plaintext', 'scram_sha256', 'scram_sha512'])
    needAuth(reader, reader.is('sasl', mode), at, user, `sasl "${mode}"`);
  const isMsk = reader.is('saslTokenProvider', 'aws_msk_iam');
  const isBearer = reader.is('sasl', 'oauthbearer');
  needAuth(reader, all([isBearer, not(isMsk)]), at, [...user, 'oauthTokenEndpointUri'], 'sasl "oauthbearer"');
  mskIam(reader, all([isBearer, isMsk]), placeOf(reader.read('saslTokenProvider'), 'saslTokenProvider'));
  const isKerberos = reader.is('sasl', 'gssapi');
  needAuth(reader, isKerberos, at, ['username', 'realm', 'kerberosConfig'], 'sasl "gssapi"');
  const [password, keytab] = [reader.given('password'), reader.given('keytab')];
  reader.refuse(
    all([isKerberos, any([all([password, keytab]), all([not(password), not(keytab)])])]),
    at,
    'sasl "gssapi" needs exactly one of password and keytab from a TriggerAuthentication',
  );
};

const apacheKafka: TriggerCheck = (reader) => {
  kafkaPartitions(reader, 'json');
  const sasl = reader.read('sasl');
  const at = placeOf(sasl, 'sasl');
  needAuth(reader, reader.is('sasl', 'plaintext'), at, ['username', 'password'], 'sasl "plaintext"');
  mskIam(reader, reader.is('sasl', 'aws_msk_iam'), at);
  for (const name of ['sasl', 'tls']) inBothPlaces(reader, name, name);
};

/** A setting that may stand in the metadata or in the authentication, not in both. */
function inBothPlaces(reader: TriggerReader, inMetadata: string, inAuth: string): void {
  const { trigger, auth } = reader;
  const written = trigger.metadata.get(inMetadata);
  const isWritten: Truth = !trigger.metadata.has(inMetadata)
    ? 'no'
    : written === undefined
      ? 'unknown'
      : truth(written.trim() !== '');
  const other: Truth = auth.parameters === 'unseen' ? 'unknown' : truth(auth.parameters.has(inAuth));
  reader.refuse(
    all([isWritten, other]),
    { part: 'key', name: inMetadata },
    `${inMetadata} is in the metadata, and ${inAuth === inMetadata ? 'it' : inAuth} is in the TriggerAuthentication too`,
  );
}

const cron: TriggerCheck = (reader) => {
  for (const name of ['start', 'end']) {
    const schedule = reader.read(name);
    if (schedule.state !== 'value') continue;
    const problem = cronProblem(schedule.text);
    reader.refuse(truth(problem !== undefined), value(name), `${name} "${schedule.text}" ${problem ?? ''}`);
  }
  const [start, end] = [reader.read('start'), reader.read('end')];
  reader.refuse(
    truth(start.state === 'value' && end.state === 'value' && start.text === end.text),
    value('end'),
    `start and end are the same, "${end.state === 'value' ? end.text : ''}"`,
  );
};

/** pkg/scalers/cpu_memory_scaler.go; a malformed quantity ends the parser in a panic. */
const resourceUse: TriggerCheck = (reader) => {
  const { metricType, metadata } = reader.trigger;
  const old = metadata.get('type');
  const hasOld = metadata.has('type') && old?.trim() !== '';
  reader.refuse(
    truth(hasOld),
    { part: 'key', name: 'type' },
    'type has gone from the metadata of cpu and memory triggers (KEDA 2.18) and is metricType beside it',
  );
  reader.refuse(
    truth(metricType === '' && !hasOld && !reader.trigger.open),
    { part: 'type' },
    `a ${reader.trigger.type} trigger needs metricType Utilization or AverageValue`,
  );
  const found = reader.read('value');
  const meant = metricType === '' ? old?.trim() : metricType;
  if (found.state !== 'value') return;
  if (meant === 'Utilization') {
    reader.refuse(
      truth(readDecimal(found.text, 32) === undefined),
      value('value'),
      `value "${found.text}" is not a whole number, which is what Utilization takes, without a %`,
      suggest(/^\d+ ?%$/.test(found.text) ? found.text.replace(/ ?%$/, '') : undefined),
    );
  } else if (meant === 'AverageValue') {
    reader.refuse(
      truth(parseQuantity(found.text) === undefined),
      value('value'),
      `value "${found.text}" is not a quantity such as 500m or 2Gi`,
    );
  }
};

const rabbitProtocols: readonly string[] = ['auto', 'amqp', 'http'];
const rabbitModes: readonly string[] = [
  'QueueLength',
  'MessageRate',
  'DeliverGetRate',
  'PublishedToDeliveredRatio',
  'ExpectedQueueConsumptionTime',
];

/** The protocol in the end, with `auto` decided by the scheme of the host. */
function rabbitProtocol(reader: TriggerReader): string | undefined {
  const protocol = reader.read('protocol');
  if (protocol.state !== 'value') return undefined;
  if (protocol.text !== 'auto') return protocol.text;
  const host = reader.read('host');
  if (host.state !== 'value') return undefined;
  const scheme = parseUrl(host.text)?.scheme;
  if (scheme === 'amqp' || scheme === 'amqps') return 'amqp';
  if (scheme === 'http' || scheme === 'https') return 'http';
  reader.refuse(
    'yes',
    placeOf(host, 'host'),
    'the scheme of host is none of amqp, amqps, http and https, by which protocol "auto" goes',
  );
  return undefined;
}

const rabbit: TriggerCheck = (reader) => {
  const protocolRead = reader.read('protocol');
  if (protocolRead.state === 'value') {
    reader.refuse(
      truth(!rabbitProtocols.includes(protocolRead.text)),
      placeOf(protocolRead, 'protocol'),
      `protocol "${protocolRead.text}" is none of ${rabbitProtocols.join(', ')}`,
    );
  }
  const protocol = rabbitProtocol(reader);
  const isAmqp = protocol === undefined ? 'unknown' : truth(protocol === 'amqp');
  for (const name of ['useRegex', 'excludeUnacknowledged'])
    reader.refuse(all([reader.isTrue(name), isAmqp]), value(name), `${name} needs the protocol http`);
  const [user, password] = [reader.given('username'), reader.given('password')];
  reader.refuse(
    any([all([user, not(password)]), all([password, not(user)])]),
    { part: 'metadata' },
    'only one of username and password is given',
  );
  rabbitTarget(reader, isAmqp);
};

function rabbitTarget(reader: TriggerReader, isAmqp: Truth): void {
  const length = reader.number('queueLength');
  const amount = reader.number('value');
  const mode = reader.read('mode');
  if (length === undefined || amount === undefined || mode.state !== 'value') return;
  const hasMode = mode.text !== 'Unknown';
  if (length === 0 && !hasMode && amount === 0) return;
  if (length !== 0) {
    reader.refuse(
      truth(hasMode || amount !== 0),
      { part: 'key', name: 'queueLength' },
      'queueLength is the old form, which cannot stand beside mode and value',
    );
    return;
  }
  if (!hasMode) {
    reader.refuse('yes', { part: 'key', name: 'value' }, 'value needs a mode');
  } else if (amount === 0) {
    const isWritten = reader.given('value') === 'yes';
    reader.refuse(
      'yes',
      isWritten ? value('value') : { part: 'key', name: 'mode' },
      isWritten ? 'value 0 counts as none, and mode needs one' : 'mode needs a value',
    );
  } else if (!rabbitModes.includes(mode.text)) {
    reader.refuse('yes', value('mode'), `mode "${mode.text}" is none of ${rabbitModes.join(', ')}`);
  } else {
    reader.refuse(
      all([truth(mode.text !== 'QueueLength'), isAmqp]),
      value('mode'),
      `mode "${mode.text}" needs the protocol http`,
    );
    const timeout = reader.read('timeout');
    const isSet = timeout.state === 'value' && !/^[-+]?0[a-zµμ]*$/.test(timeout.text);
    reader.refuse(all([truth(isSet), isAmqp]), value('timeout'), 'timeout needs the protocol http');
  }
}

const redis: TriggerCheck = (reader) => {
  const [hosts, ports, addresses] = [reader.read('host'), reader.read('port'), reader.read('address')];
  const count = (found: Reading): number => (found.state === 'value' ? found.text.split(',').length : 0);
  const [hasHosts, hasPorts, hasAddresses] = [
    reader.given('host'),
    reader.given('port'),
    reader.given('address'),
  ];
  const isPair = all([hasHosts, hasPorts]);
  reader.refuse(
    all([isPair, truth(hosts.state === 'value' && ports.state === 'value' && count(hosts) !== count(ports))]),
    placeOf(ports, 'port'),
    `${count(hosts)} host${count(hosts) === 1 ? '' : 's'} and ${count(ports)} port${count(ports) === 1 ? '' : 's'}: each host needs its port`,
  );
  const firstIsEmpty = addresses.state === 'value' && addresses.text.split(',')[0]?.trim() === '';
  reader.refuse(
    all([hasAddresses, truth(firstIsEmpty)]),
    placeOf(addresses, 'address'),
    'the first address is empty',
  );
  reader.refuse(
    all([not(isPair), not(hasAddresses)]),
    { part: 'metadata' },
    'the server is missing: address, or host with port',
  );
  inBothPlaces(reader, 'enableTLS', 'tls');
};

const nats: TriggerCheck = (reader) => {
  reader.refuse(
    all([not(reader.given('account')), not(reader.given('accountID'))]),
    { part: 'key', name: 'account' },
    'account or accountID',
    { topic: 'missing' },
  );
};

const graphite: TriggerCheck = (reader) => {
  const mode = reader.read('authMode');
  if (mode.state !== 'value') return;
  reader.refuse(
    truth(mode.text !== 'basic'),
    value('authMode'),
    `authMode "${mode.text}" is not "basic", the only one of graphite`,
  );
  needAuth(reader, truth(mode.text === 'basic'), value('authMode'), ['username'], 'authMode "basic"');
};

const datadog: TriggerCheck = (reader) => {
  const { metricType, metadata } = reader.trigger;
  const type = metadata.get('type');
  if (metadata.has('type') && type !== undefined) {
    reader.refuse(
      truth(metricType !== undefined && metricType !== ''),
      { part: 'key', name: 'type' },
      `type in the metadata and metricType ${metricType ?? ''} cannot both be given`,
    );
    reader.refuse(
      truth(!['average', 'global'].includes(type.toLowerCase())),
      value('type'),
      `type "${type}" is neither average nor global`,
    );
  }
  const proxy = reader.isTrue('useClusterAgentProxy');
  need(reader, not(proxy), ['datadogMetricName', 'datadogMetricNamespace']);
  need(reader, proxy, ['query']);
  const query = reader.read('query');
  reader.refuse(
    all([not(proxy), not(passes(query, (text) => /\{[^\n]*\}/.test(text)))]),
    value('query'),
    'query has no scope in braces, such as {env:prod}',
  );
  const at: ProblemPlace = { part: 'type' };
  needAuth(reader, not(proxy), at, ['apiKey', 'appKey'], 'datadog');
  needAuth(
    reader,
    proxy,
    at,
    ['datadogNamespace', 'datadogMetricsService'],
    'datadog with useClusterAgentProxy',
  );
};

const postgres: TriggerCheck = (reader) => {
  need(reader, reader.given('connection'), ['host', 'port', 'userName', 'dbName', 'sslmode']);
};

const workload: TriggerCheck = (reader) => {
  const selector = reader.read('podSelector');
  reader.refuse(
    not(passes(selector, isLabelSelector)),
    value('podSelector'),
    `podSelector ${selector.state === 'value' ? `"${selector.text}" ` : ''}is not a label selector such as app=chat,tier in (a, b)`,
  );
};

const influx: TriggerCheck = (reader) => {
  const token = reader.trigger.metadata.get('authToken');
  reader.refuse(
    truth(token !== undefined && token.trim() !== ''),
    { part: 'key', name: 'authToken' },
    'authToken is refused in the metadata since KEDA 2.20; it comes from a TriggerAuthentication or authTokenFromEnv',
  );
  const version = reader.read('influxVersion');
  if (version.state !== 'value') return;
  reader.refuse(
    truth(version.text !== '2' && version.text !== '3'),
    value('influxVersion'),
    `influxVersion "${version.text}" is neither 2 nor 3`,
  );
  const is3 = truth(version.text === '3');
  need(reader, not(truth(version.text === '2')), ['organizationName']);
  need(reader, not(is3), ['database', 'metricKey']);
  const type = reader.read('queryType');
  if (type.state !== 'value') return;
  reader.refuse(
    all([is3, truth(!['influxql', 'flightsql'].includes(type.text.toLowerCase()))]),
    value('queryType'),
    `queryType "${type.text}" is neither InfluxQL nor FlightSQL`,
  );
};

const temporal: TriggerCheck = (reader) => {
  const [name, build] = [reader.given('workerDeploymentName'), reader.given('workerDeploymentBuildId')];
  for (const [one, other, there, missing] of [
    [name, build, 'workerDeploymentName', 'workerDeploymentBuildId'],
    [build, name, 'workerDeploymentBuildId', 'workerDeploymentName'],
  ] as const) {
    reader.refuse(all([one, not(other)]), { part: 'key', name: there }, `${there} needs ${missing}`);
  }
  reader.refuse(
    all([
      name,
      any([reader.given('buildId'), reader.isTrue('selectAllActive'), reader.isTrue('selectUnversioned')]),
    ]),
    { part: 'key', name: 'workerDeploymentName' },
    'workerDeploymentName cannot stand beside buildId, selectAllActive or selectUnversioned',
  );
  reader.refuse(
    any([
      all([reader.given('cert'), not(reader.given('key'))]),
      all([reader.given('key'), not(reader.given('cert'))]),
    ]),
    { part: 'type' },
    'the TriggerAuthentication has only one of cert and key',
  );
  const counts = reader.isTrue('includeRunningWorkflowCount');
  const isNew = true;
  reader.refuse(
    all([reader.given('workflowTaskQueueForCount'), not(counts)]),
    { part: 'key', name: 'workflowTaskQueueForCount' },
    'workflowTaskQueueForCount needs includeRunningWorkflowCount "true"',
    { isNew },
  );
  for (const field of [
    'taskQueue',
    'workflowTaskQueueForCount',
    'workerDeploymentName',
    'workerDeploymentBuildId',
  ]) {
    const found = reader.read(field);
    reader.refuse(
      all([counts, not(passes(found, (text) => /^[\p{L}\p{N}_./:-]+$/u.test(text)))]),
      placeOf(found, field),
      `${field} ${found.state === 'value' && found.from === 'metadata' ? `"${found.text}" ` : ''}has other characters than letters, digits and -_./: and includeRunningWorkflowCount is on`,
      { isNew },
    );
  }
};

export const triggerChecks: Readonly<Record<string, TriggerCheck>> = {
  prometheus,
  'aws-cloudwatch': cloudWatch,
  'aws-sqs-queue': sqs,
  'aws-kinesis-stream': (reader) => awsCredentials(reader),
  'aws-dynamodb-streams': (reader) => awsCredentials(reader),
  'aws-dynamodb': dynamo,
  kafka,
  'apache-kafka': apacheKafka,
  cron,
  cpu: resourceUse,
  memory: resourceUse,
  'metrics-api': httpAuth,
  loki: httpAuth,
  rabbitmq: rabbit,
  redis,
  'redis-cluster': redis,
  'redis-sentinel': redis,
  'redis-streams': redis,
  'redis-cluster-streams': redis,
  'redis-sentinel-streams': redis,
  'nats-jetstream': nats,
  graphite,
  datadog,
  postgresql: postgres,
  'kubernetes-workload': workload,
  influxdb: influx,
  temporal,
};
