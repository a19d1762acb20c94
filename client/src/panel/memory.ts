import type { ExtensionContext, Memento } from 'vscode';
import type { PanelSession } from '../../../server/src/protocol/panel';

/** What the panel remembers in the workspace; secrets are kept apart, in VS Code's secret storage. */
export interface PanelMemory {
  /** Names of what the user has agreed to have read, see `consentKey`. */
  agreed(key: string): boolean;
  agree(key: string): Promise<void>;
  forgetAgreements(): Promise<void>;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  choose(context: string | undefined, namespace: string | undefined): Promise<void>;
  readonly baselines: PanelSession['baselines'];
  setBaseline(key: string, baseline: PanelSession['baselines'][string] | undefined): Promise<void>;
  prometheusToken(origin: string): Promise<string | undefined>;
  setPrometheusToken(origin: string, token: string | undefined): Promise<void>;
}

const keys = {
  agreed: 'plimsoll.live.agreed',
  context: 'plimsoll.live.context',
  namespace: 'plimsoll.live.namespace',
  baselines: 'plimsoll.live.baselines',
} as const;

export function createMemory({ workspaceState: state, secrets }: ExtensionContext): PanelMemory {
  return {
    agreed: (key) => agreements(state).includes(key),
    agree: async (key) => {
      const all = agreements(state);
      if (!all.includes(key)) await state.update(keys.agreed, [...all, key]);
    },
    forgetAgreements: async () => state.update(keys.agreed, undefined),
    get context() {
      return state.get<string>(keys.context);
    },
    get namespace() {
      return state.get<string>(keys.namespace);
    },
    choose: async (context, namespace) => {
      await state.update(keys.context, context);
      await state.update(keys.namespace, namespace);
    },
    get baselines() {
      return state.get<PanelSession['baselines']>(keys.baselines) ?? {};
    },
    setBaseline: async (key, baseline) => {
      const { [key]: _, ...others } = state.get<PanelSession['baselines']>(keys.baselines) ?? {};
      await state.update(keys.baselines, baseline === undefined ? others : { ...others, [key]: baseline });
    },
    // A token is kept for the origin that it was entered for: another URL in the settings never gets it.
    prometheusToken: async (origin) => secrets.get(tokenKey(origin)),
    setPrometheusToken: async (origin, token) =>
      token === undefined ? secrets.delete(tokenKey(origin)) : secrets.store(tokenKey(origin), token),
  };
}

function agreements(state: Memento): readonly string[] {
  return state.get<readonly string[]>(keys.agreed) ?? [];
}

function tokenKey(origin: string): string {
  return `plimsoll.live.prometheus.token ${origin}`;
}

/** The origin of a URL, or nothing for what is none. */
export function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
