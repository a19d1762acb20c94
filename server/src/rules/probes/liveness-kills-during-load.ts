import { probesOf } from '../../kube/containers';
import type { Probe } from '../../kube/probes';
import { isAbsent, type Resource } from '../../kube/resource';
import type { ModelServer } from '../../kube/model-server';
import { insertKey, type PlainValue } from '../../yaml/edit';
import { entryOf, isMap, isScalar, isSequence, type MapNode, type YamlNode } from '../../yaml/node';
import { serversOf } from '../model/servings';
import { mayBePatched } from '../overlays';
import { inSentence } from '../naming';
import { durationText } from '../cold-start/weights';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Fix } from '../rule';
import { budgetOf, shortBudget, wantedSeconds, type ShortBudget } from './load-budget';
import { asksElsewhere, undeclaredPort } from './probe-ports';

export default defineRule({
  id: 'liveness-kills-during-load',
  summary: 'A liveness probe must not kill a server that is still loading',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      const { liveness } = probesOf(container);
      if (liveness === undefined || !isAbsent(resource, container.node, 'startupProbe')) continue;
      // A probe that cannot be sent kills nobody.
      if (undeclaredPort(container, liveness) !== undefined) continue;
      const short = shortBudget(server, workspace, models, budgetOf(liveness, 'liveness'));
      if (short === undefined || mayBePatched(workspace, resource, 'startupProbe')) continue;
      const { initialDelaySeconds: delay, periodSeconds: period, failureThreshold: failures } = liveness;
      const timeout = liveness.timeoutSeconds.value ?? 1;
      report({
        at: liveness.entry,
        message: `The liveness probe of ${inSentence(containerTitle(container))} kills it after ${durationText(short.budget)} (${delay.value ?? 0} s delay + ${(failures.value ?? 1) - 1} x ${period.value ?? 10} s + ${timeout} s) unless it answers, but loading takes about ${durationText(short.start.time.total.expected)}: ${short.sum}; it is restarted before it is ready, again and again`,
        // The same question of a port where nobody answers would kill it just as well.
        fixes: asksElsewhere(server, liveness) ? [] : [startup(resource, server, liveness, short)],
        evidence: [...short.start.time.read.reasons, ...short.start.time.start.reasons],
        ...containerField(container),
      });
    }
  },
});

const period = 10;

/** The same question, asked often enough while the model loads. */
function startup(
  resource: Resource,
  { container }: ModelServer,
  liveness: Probe,
  { start }: ShortBudget,
): Fix | undefined {
  const [handler, ...others] = liveness.handlers;
  const value = handler === undefined ? undefined : plain(entryOf(liveness.node, handler)?.value);
  if (handler === undefined || value === undefined || others.length > 0) return undefined;
  const seconds = wantedSeconds(start);
  const edits = insertKey(
    resource.placed.document,
    container.node,
    'startupProbe',
    { [handler]: value, periodSeconds: period, failureThreshold: seconds / period },
    { before: 'livenessProbe' },
  );
  return edits && { title: `Add a startup probe that allows ${seconds} s`, safe: false, edits };
}

/** The value of a node, where all of it is known. */
function plain(node: YamlNode | undefined): PlainValue | undefined {
  if (isScalar(node)) return node.unknown || typeof node.value === 'bigint' ? undefined : node.value;
  if (isSequence(node)) {
    const items = node.items.map(plain);
    return node.open || items.includes(undefined) ? undefined : items.map((item) => item ?? null);
  }
  return isMap(node) ? plainMap(node) : undefined;
}

function plainMap(node: MapNode): PlainValue | undefined {
  const entries = node.entries.map(({ key, value }) => [key.text, plain(value)] as const);
  if (node.open || entries.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(entries.map(([key, value]) => [key, value ?? null]));
}
