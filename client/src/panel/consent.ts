import type { PanelContext } from '../../../server/src/protocol/panel';
import type { LiveSourceSettings } from '../../../server/src/protocol/settings';

/**
 * What the user agrees to, as one text: where is read, as whom, and by which program. Anything else that is to be
 * contacted, such as another Prometheus in the settings, is another key, and is asked about again.
 */
export function consentKey(context: PanelContext, sources: LiveSourceSettings): string {
  const { prometheus, cloudwatch, aws } = sources;
  return JSON.stringify([
    context.name,
    context.server,
    context.user ?? '',
    context.runs ?? '',
    prometheus.url,
    prometheus.service,
    prometheus.ampWorkspace,
    cloudwatch.enable,
    aws.region,
    aws.profile,
  ]);
}

/** What the user is told before anything is contacted. */
export function consentText(
  context: PanelContext,
  sources: LiveSourceSettings,
): { readonly message: string; readonly detail: string } {
  const { prometheus, cloudwatch, aws } = sources;
  const region = aws.region === '' ? context.region : aws.region;
  const where = [
    `cluster ${context.cluster}`,
    ...(context.account === undefined ? [] : [`account ${context.account}`]),
    ...(context.region === undefined ? [] : [context.region]),
  ].join(', ');
  const lines = [
    `${where}, at ${context.server}`,
    ...logIn(context),
    '',
    'Read (get, list, watch): workloads, their pods, logs of pods that were killed, events, autoscalers, disruption budgets, nodes, NodePools and NodeClaims, metrics.k8s.io, and /metrics of the pods through the API server.',
    ...(prometheus.url === '' ? [] : [`Prometheus: queries to ${prometheus.url}`]),
    ...(prometheus.service === ''
      ? []
      : [`Prometheus: queries to the service ${prometheus.service}, through the API server`]),
    ...(prometheus.ampWorkspace === ''
      ? []
      : [
          `Amazon Managed Service for Prometheus: queries to ${prometheus.ampWorkspace}${inRegion(region)}${ofProfile(aws.profile)}`,
        ]),
    ...(cloudwatch.enable
      ? [
          `CloudWatch${inRegion(region)}${ofProfile(aws.profile)}: GetMetricData and DescribeAlarms, which AWS charges for; Logs Insights only when you run a query`,
        ]
      : []),
    '',
    'Never read: Secrets and ConfigMaps. Nothing is changed. Reading stops while the panel is hidden.',
  ];
  return { message: `Let Plimsoll read from the context ${context.name}?`, detail: lines.join('\n') };
}

/** What the user is told before the kinds of a cluster are read. */
export function schemasText(context: PanelContext): { readonly message: string; readonly detail: string } {
  return {
    message: `Read the kinds of the context ${context.name}?`,
    detail: [
      `cluster ${context.cluster}, at ${context.server}`,
      ...logIn(context),
      '',
      'Reads /openapi/v3 of the API server once, and keeps it below .plimsoll/schemas in the workspace. Manifests are checked against it from then on.',
      '',
      'No object of the cluster is read, and nothing is changed.',
    ].join('\n'),
  };
}

/** What the user agrees to before manifests are compared with a cluster. */
export function comparisonKey(context: PanelContext): string {
  return JSON.stringify(['compare', context.name, context.server, context.user ?? '', context.runs ?? '']);
}

/** What the user is told before the first comparison with a context. */
export function comparisonText(context: PanelContext): { readonly message: string; readonly detail: string } {
  return {
    message: `Compare manifests with the context ${context.name}?`,
    detail: [
      `cluster ${context.cluster}, at ${context.server}`,
      ...logIn(context),
      '',
      'Each time you ask for it: the objects of the open file are read from the cluster (get), and sent to its API server as a dry run (patch with dryRun=All).',
      '',
      'Nothing is changed. Secrets are neither read nor sent.',
    ].join('\n'),
  };
}

function logIn({ runs }: PanelContext): readonly string[] {
  return runs === undefined ? [] : [`Log in: runs ${runs}`];
}

function inRegion(region: string | undefined): string {
  return region === undefined ? '' : ` in ${region}`;
}

function ofProfile(profile: string): string {
  return profile === '' ? '' : ` with the profile ${profile}`;
}
