import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkTrigger, isRefused } from '../../server/src/kube/keda/check-trigger';
import { cronProblem } from '../../server/src/kube/keda/cron';
import { triggerFields } from '../../server/src/kube/keda/fields';
import { parseRequestUri, parseUrl } from '../../server/src/kube/keda/go-url';
import { isLabelSelector } from '../../server/src/kube/keda/label-selector';
import { noAuth, unseenAuth, type Trigger, type TriggerAuth } from '../../server/src/kube/keda/trigger';
import { triggerTypes } from '../../server/src/kube/keda/trigger-types';
import {
  isKafkaVersion,
  isMap,
  isPartitionList,
  readBoolean,
  readDuration,
  readInteger,
  readNumber,
} from '../../server/src/kube/keda/values';
import { kedaCases } from '../vectors/data/keda-cases';
import { run } from '../vectors/keda';

function trigger(type: string, metadata: Readonly<Record<string, string | null>>, metricType = ''): Trigger {
  const entries = Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== null);
  return { type, metricType, metadata: new Map(entries), open: false, composed: 'no' };
}

function auth(
  parameters: readonly string[],
  podIdentity = '',
  env: Readonly<Record<string, string>> = {},
): TriggerAuth {
  return {
    parameters: new Map(parameters.map((name) => [name, undefined])),
    podIdentity,
    env: new Map(Object.entries(env)),
  };
}

function refusals(one: Trigger, from: TriggerAuth = noAuth): readonly string[] {
  return checkTrigger(one, from)
    .filter(({ verdict }) => verdict === 'refused')
    .map(({ message }) => message);
}

describe("verdicts of KEDA's own parsers", () => {
  for (const [type, { base, cases }] of Object.entries(kedaCases)) {
    test(type, () => {
      for (const [verdict, changes, metricType] of cases) {
        const one = trigger(type, { ...base, ...changes }, metricType);
        const label = `${JSON.stringify(changes)} ${metricType ?? ''}`;
        const unseen = isRefused(checkTrigger(one, unseenAuth));
        assert.equal(unseen, verdict === 'refused', `${label} with unseen authentication`);
        assert.equal(isRefused(checkTrigger(one, noAuth)), verdict !== 'taken', `${label} with none`);
      }
    });
  }

  const file = join(__dirname, '../../../shared/facts/keda-vectors.json');
  test(
    'all recorded ones',
    { skip: !existsSync(file) && 'the recorded verdicts are not beside the project' },
    async () => {
      const result = await run(JSON.parse(readFileSync(file, 'utf8')), []);
      assert.deepEqual(result.differences, []);
      assert.ok(result.ok);
    },
  );
});

describe('trigger types', () => {
  test('each one with fields is a type of KEDA', () => {
    assert.deepEqual(
      Object.keys(triggerFields).filter((type) => !triggerTypes.has(type)),
      [],
    );
  });

  test('an unknown one is refused, one of another build is not judged, one without a table neither', () => {
    assert.equal(refusals(trigger('promethues', {})).length, 1);
    assert.deepEqual(checkTrigger(trigger('kedify-http', {}), noAuth), []);
    assert.deepEqual(checkTrigger(trigger('gcp-pubsub', { anything: 'x' }), noAuth), []);
  });

  test('metricType is for the kinds of metric that a type has', () => {
    const { base } = kedaCases['prometheus'] ?? { base: {} };
    assert.deepEqual(refusals(trigger('prometheus', base, 'Value')), []);
    assert.equal(refusals(trigger('prometheus', base, 'Utilization')).length, 1);
    assert.equal(refusals(trigger('cpu', { value: '50' }, 'Value')).length, 1);
    assert.equal(refusals(trigger('gcp-pubsub', {}, 'Utilization')).length, 1);
  });
});

describe('values', () => {
  const every = <T>(
    read: (text: string) => T | undefined,
    good: readonly string[],
    bad: readonly string[],
  ): void => {
    for (const text of good) assert.notEqual(read(text), undefined, text);
    for (const text of bad) assert.equal(read(text), undefined, text);
  };

  test('numbers are those of JSON', () => {
    every(
      readNumber,
      ['0', '-5', '0.5', '1e3', '1E+3', '-0'],
      ['.5', '05', '+5', '100m', 'NaN', '5.', '0x10', '1e999', '', 'null', '1_000'],
    );
    every(
      readInteger,
      ['0', '-5', '9223372036854775807'],
      ['5.0', '1e3', '05', '+5', '9223372036854775808', ''],
    );
  });

  test('booleans are those of Go', () => {
    for (const text of ['1', 't', 'T', 'true', 'True', 'TRUE']) assert.equal(readBoolean(text), true);
    for (const text of ['0', 'f', 'F', 'false', 'False', 'FALSE']) assert.equal(readBoolean(text), false);
    for (const text of ['yes', 'on', 'tRUE', '', 'constructor']) assert.equal(readBoolean(text), undefined);
  });

  test('durations are those of Go, or milliseconds', () => {
    const cases: Readonly<Record<string, number>> = {
      '30s': 30000,
      '1m30s': 90000,
      '1.5h': 5400000,
      '500ms': 500,
      '0': 0,
      '1000': 1000,
      '.5s': 500,
      '+1s': 1000,
      '1.s': 1000,
    };
    for (const [text, value] of Object.entries(cases)) assert.equal(readDuration(text), value, text);
    every(readDuration, ['1µs', '0s', '-0s'], ['-10s', '-5', 'a', '10 s', '1d', '', 's', '1s2', '3000000h']);
  });

  test('maps and lists of partitions', () => {
    assert.ok(isMap('a=b') && isMap('a=b, c=') && !isMap('a') && !isMap('a=b=c') && !isMap('a=b,'));
    for (const text of ['1', '1-4,8', ' 1 - 3 ']) assert.ok(isPartitionList(text, 'decimal'), text);
    for (const text of ['', 'a', '1-2-3', '-5', '1,,2', '1-', '2147483648']) {
      assert.ok(!isPartitionList(text, 'decimal'), text);
    }
    assert.ok(isPartitionList('01', 'decimal') && !isPartitionList('01', 'json'));
    assert.ok(isKafkaVersion('3.6.0') && isKafkaVersion('0.10.2.0'));
    assert.ok(!isKafkaVersion('3.6') && !isKafkaVersion('0.10.2') && !isKafkaVersion('v3.6.0'));
  });

  test('schedules have five fields', () => {
    for (const text of [
      '* * * * *',
      '0/15 8-18/2 1,15 jan-DEC Mon-fri',
      '? * * * 0',
      'TZ=UTC 0 8 * * *',
      '0 , * * *',
    ]) {
      assert.equal(cronProblem(text), undefined, text);
    }
    for (const text of [
      '0 8 * *',
      '0 0 8 * * *',
      '@daily',
      '60 * * * *',
      '* 24 * * *',
      '* * 0 * *',
      '* * * 13 *',
      '* * * * 7',
      '5-1 * * * *',
      '*/0 * * * *',
      '1-2-3 * * * *',
      '1/2/3 * * * *',
      '* * * * monday',
      '-1 * * * *',
      'TZ=UTC',
    ]) {
      assert.notEqual(cronProblem(text), undefined, text);
    }
  });

  test('label selectors', () => {
    for (const text of [
      'a=b',
      'a==b,c!=d',
      'a in (b, c), !d',
      'e',
      'x.io/a notin (b)',
      'a in ()',
      'a=',
      'a,b',
      'n>5',
      'a in (b,)',
      'a=in',
    ]) {
      assert.ok(isLabelSelector(text), text);
    }
    for (const text of [
      'a=b,',
      '=b',
      'a in b',
      'a in (b',
      '!a=b',
      'a b',
      '-a=b',
      'a=b c',
      'n>x',
      'a=-',
      'in=a',
      `${'x'.repeat(64)}=a`,
      'a=(b)',
      'A/b/c=d',
    ]) {
      assert.ok(!isLabelSelector(text), text);
    }
  });

  test("URLs as Go's", () => {
    assert.equal(parseUrl('AMQPS://user:pw@host:5671/vhost')?.scheme, 'amqps');
    assert.equal(parseUrl('http://')?.scheme, 'http');
    assert.equal(parseUrl('host')?.scheme, '');
    for (const text of ['http://host:port', 'http://ho st/', ':x', 'http://h/%zz', '1a:b', 'http://u^:p@h']) {
      assert.equal(parseUrl(text), undefined, text);
    }
    assert.equal(parseRequestUri('https://sqs.eu-west-1.amazonaws.com/1/q?x=/y')?.path, '/1/q');
    assert.equal(parseRequestUri('arn:aws:sqs:eu-west-1:1:q')?.path, '');
    assert.equal(parseRequestUri('/1/q')?.path, '/1/q');
    assert.equal(parseRequestUri('*')?.path, '*');
    for (const text of ['queue', 'queue.fifo', 'a_b:c']) assert.equal(parseRequestUri(text), undefined, text);
  });
});

describe('authentication', () => {
  const sqs = { awsRegion: 'eu-west-1', queueURL: 'jobs' };

  test('credentials of AWS', () => {
    const one = trigger('aws-sqs-queue', sqs);
    assert.equal(refusals(one).length, 1);
    for (const good of [
      auth([], 'aws'),
      auth([], 'aws-eks'),
      auth(['awsRoleArn']),
      auth(['awsAccessKeyID', 'awsSecretAccessKey']),
      auth(['awsAccessKeyId', 'awsSecretAccessKey']),
    ]) {
      assert.deepEqual(refusals(one, good), []);
    }
    assert.equal(refusals(one, auth(['awsAccessKeyID'])).length, 1);
    assert.equal(refusals(one, auth([], 'azure-workload')).length, 1);
    assert.deepEqual(refusals(trigger('aws-sqs-queue', { ...sqs, identityOwner: 'Pod' })), []);
    const keys = { ...sqs, awsAccessKeyIDFromEnv: 'ID', awsSecretAccessKeyFromEnv: 'KEY' };
    assert.deepEqual(refusals(trigger('aws-sqs-queue', keys), auth([], '', { ID: 'a', KEY: 'b' })), []);
    assert.equal(refusals(trigger('aws-sqs-queue', keys), auth([], '', { ID: 'a' })).length, 1);
  });

  test('a seen authentication has to bring what a mode needs', () => {
    const { base } = kedaCases['prometheus'] ?? { base: {} };
    const bearer = trigger('prometheus', { ...base, authModes: 'bearer' });
    assert.deepEqual(refusals(bearer, auth(['bearerToken'])), []);
    assert.deepEqual(refusals(bearer, auth(['token'])), []);
    assert.equal(refusals(bearer, auth(['username'])).length, 1);
    assert.equal(refusals(bearer, auth(['bearerToken'], 'aws')).length, 1);
    const several = trigger('prometheus', { ...base, authModes: 'bearer,basic' });
    assert.equal(refusals(several, unseenAuth).length, 1);
  });

  test('what comes first wins, and what it says is not known', () => {
    const one = trigger('new-relic', { account: 'x', queryKey: 'k', nrql: 'SELECT 1', threshold: '1' });
    assert.equal(refusals(one).length, 1);
    assert.deepEqual(refusals(one, unseenAuth), []);
    assert.deepEqual(refusals(one, auth(['account'])), []);
  });

  test('a setting in both places', () => {
    const redis = trigger('redis', { listName: 'l', address: 'r:1', enableTLS: 'true' });
    assert.deepEqual(refusals(redis, auth(['password'])), []);
    assert.equal(refusals(redis, auth(['tls'])).length, 1);
    const { base } = kedaCases['apache-kafka'] ?? { base: {} };
    assert.equal(refusals(trigger('apache-kafka', { ...base, tls: 'disable' }), auth(['tls'])).length, 1);
  });

  test('a variable that the container lacks', () => {
    const one = trigger('rabbitmq', { queueName: 'q', hostFromEnv: 'RABBIT' });
    assert.match(refusals(one).join(), /hostFromEnv names "RABBIT"/);
    assert.deepEqual(refusals(one, auth([], '', { RABBIT: 'amqp://h' })), []);
    assert.equal(refusals(one, auth([], '', { RABBIT: 'ftp://h' })).length, 1);
    assert.doesNotMatch(refusals(one, auth([], '', { RABBIT: 'ftp://user:secret@h' })).join(), /secret/);
  });
});

describe('what cannot be known', () => {
  test('a value that comes later is neither right nor missing', () => {
    const one: Trigger = {
      ...trigger('prometheus', { serverAddress: 'http://p' }),
      metadata: new Map([
        ['serverAddress', 'http://p'],
        ['query', undefined],
        ['threshold', undefined],
      ]),
    };
    assert.deepEqual(checkTrigger(one, noAuth), []);
  });

  test('nothing is missing where a template can add it, and what is wrong is still wrong', () => {
    const open: Trigger = { ...trigger('prometheus', { threshold: '5%' }), open: true };
    assert.equal(refusals(open).length, 1);
    assert.deepEqual(refusals({ ...trigger('aws-sqs-queue', {}), open: true }), []);
  });

  test('a composed metric has a target of its own', () => {
    const { base } = kedaCases['metrics-api'] ?? { base: {} };
    const one = trigger('metrics-api', { ...base, targetValue: null });
    assert.equal(refusals(one).length, 1);
    assert.deepEqual(refusals({ ...one, composed: 'yes' }), []);
    assert.deepEqual(refusals({ ...one, composed: 'unknown' }), []);
  });
});

test('names that KEDA passes over', () => {
  const ignored = (type: string, metadata: Readonly<Record<string, string>>): readonly string[] =>
    checkTrigger(trigger(type, metadata), unseenAuth)
      .filter(({ verdict }) => verdict === 'ignored')
      .map(({ at }) => ('name' in at ? at.name : at.part));
  assert.deepEqual(
    ignored('prometheus', { metricName: 'x', treshold: '1', thresholdFromEnv: 'T', bearerToken: 'x' }),
    ['treshold', 'thresholdFromEnv', 'bearerToken'],
  );
  assert.deepEqual(ignored('rabbitmq', { hostFromEnv: 'H', passwordFromEnv: 'P', username: 'u' }), [
    'username',
  ]);
  assert.deepEqual(ignored('external', { anything: 'x' }), []);
  assert.deepEqual(ignored('redis', { addresses: 'a', hosts: 'h', portsFromEnv: 'P' }), []);
});
