import type { Empty, Intent, PanelModel } from '../panel/model';
import type { Baseline } from '../live/baseline';
import type { LogsQueryId, RangeName } from '../live/want';
import type { LiveSourceSettings } from './settings';

/**
 * Messages of the live panel. Two lines: client and server (requests and notifications of the language server), and
 * client and page (`postMessage`). The client passes models through and never reads them.
 */

// --- Client and server

/**
 * Client to server, notification: what the client wants to see now, whole each time. The server compares it with what
 * it does and changes that; after a restart of either, sending it again is all that is needed. Without a `connection`
 * nothing is contacted.
 */
export const panelSessionNotification = 'plimsoll/panel/session';

export interface PanelSession {
  /** Where to read from; only what the user has agreed to, and never in an untrusted workspace. */
  readonly connection?: PanelConnection;
  /** The cursor in the manifest that the panel follows. */
  readonly focus?: { readonly uri: string; readonly line: number; readonly character: number };
  readonly range: RangeName;
  /** Whether anybody can see the panel: nothing is read while nobody can. */
  readonly visible: boolean;
  /** Saved baselines by {@link PanelStatus.baselineKey}. */
  readonly baselines: Readonly<Record<string, Baseline>>;
}

export type PanelConnection =
  | { readonly kind: 'demo' }
  | {
      readonly kind: 'cluster';
      /** Name of the kubeconfig context. */
      readonly context: string;
      /** For objects whose manifest names none; absent: the context's own. */
      readonly namespace?: string;
      /** The sources beside the cluster, as the user has agreed to them. */
      readonly sources: LiveSourceSettings;
      /** The bearer token of Prometheus, encrypted with the key of {@link sealKeyVariable}. */
      readonly prometheusToken?: Sealed;
    };

/**
 * A secret on its way from client to server. Messages can be logged (`plimsoll.trace.server`), so they carry secrets
 * only encrypted, with AES-256-GCM: base64 of nonce (12 bytes), tag (16 bytes), and text.
 */
export interface Sealed {
  readonly sealed: string;
}

/** Environment variable in which the client gives the server it starts the key for {@link Sealed}, in base64. */
export const sealKeyVariable = 'PLIMSOLL_SEAL_KEY';

/** Server to client, notification: what the panel shows from now on, whole. */
export const panelStateNotification = 'plimsoll/panel/state';

export interface PanelStatus {
  readonly state: PanelState;
  /** What the baseline of the present workload is stored under; absent while there is no workload. */
  readonly baselineKey?: string;
}

export type PanelState =
  /** Nothing is read, and why. */
  | { readonly kind: 'waiting'; readonly empty: Empty }
  /** The first answer is on its way. */
  | { readonly kind: 'loading'; readonly title: string }
  | {
      readonly kind: 'model';
      readonly model: PanelModel;
      /** The next answer is on its way. */
      readonly reading: boolean;
    };

/** Client to server, request without parameters: the contexts of the kubeconfig. Reads files; contacts nobody. */
export const panelContextsRequest = 'plimsoll/panel/contexts';

export interface PanelContexts {
  readonly contexts: readonly PanelContext[];
  /** The kubeconfig's current context. */
  readonly current?: string;
  /** Where the kubeconfig was looked for. */
  readonly files: readonly string[];
  /** Why there are none, with what to do. */
  readonly problem?: string;
}

export interface PanelContext {
  readonly name: string;
  readonly cluster: string;
  /** Address of the API server. */
  readonly server: string;
  readonly namespace?: string;
  /** Name of the user entry, never what is in it. */
  readonly user?: string;
  /** From the ARN of an EKS cluster, or the exec plugin's arguments, where they tell. */
  readonly account?: string;
  readonly region?: string;
  /** The program that is run to log in, such as `aws`. */
  readonly runs?: string;
}

/** Client to server, request: the namespaces of the connected cluster; asked for only when the user opens the picker. */
export const panelNamespacesRequest = 'plimsoll/panel/namespaces';

export interface PanelNamespaces {
  readonly namespaces: readonly string[];
  readonly problem?: string;
}

/** Client to server, notification: reads now; or runs a query of the logs, or takes one back. */
export const panelRefreshNotification = 'plimsoll/panel/refresh';

export interface PanelRefresh {
  readonly logsQuery?: LogsQueryId;
  readonly cancelLogsQuery?: LogsQueryId;
}

/** Client to server, request: the present window as a baseline, for the client to store. */
export const panelBaselineRequest = 'plimsoll/panel/baseline';

export type PanelBaseline =
  { readonly key: string; readonly baseline: Baseline } | { readonly problem: string };

/** Client to server, request {@link PanelTextParams}: a text to show read-only in an editor. */
export const panelTextRequest = 'plimsoll/panel/text';

export type PanelTextParams = Extract<Intent, { readonly kind: 'open-log' | 'open-live-object' }>;

export type PanelText =
  /** Secrets removed. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly language: 'yaml' | 'log';
      readonly title: string;
    }
  | { readonly kind: 'problem'; readonly message: string; readonly remedy?: string };

/** Client command of code lenses: opens the panel. */
export const openPanelCommand = 'plimsoll.openLivePanel';

// --- Client and page

export type ToPage = { readonly type: 'state'; readonly state: PanelState };

/** What the page may ask. The client checks it before it does anything: see `parseFromPage`. */
export type FromPage =
  /** The page is there and can show a state. */
  | { readonly type: 'ready' }
  | { readonly type: 'intent'; readonly intent: Intent }
  | { readonly type: 'range'; readonly range: RangeName }
  | { readonly type: 'refresh' }
  /** A file to be saved where the user says. */
  | {
      readonly type: 'save';
      readonly name: string;
      readonly encoding: 'utf8' | 'base64';
      readonly content: string;
    };
