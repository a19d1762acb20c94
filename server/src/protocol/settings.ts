/**
 * The user's settings, section `plimsoll`, as the server asks for them with `workspace/configuration` per resource.
 *
 * The manifest (`package.json`, `contributes.configuration`) declares the same keys and defaults; a test compares the two.
 */
export interface Settings {
  /** Lint the manifests of this folder. */
  readonly enable: boolean;
  readonly preset: PresetName;
  /** Severity by rule id. A configuration file takes precedence. */
  readonly rules: Readonly<Record<string, RuleLevel>>;
  /** Absolute, or relative to the workspace folder; empty: the nearest `.plimsoll.yaml` above the manifest. */
  readonly configFile: string;
  readonly hover: { readonly enable: boolean };
  readonly inlayHints: {
    /** At a model: its weights, and whether it fits. */
    readonly models: boolean;
    /** At a NodePool: how many types it launches, with how many GPUs, at what price. */
    readonly nodePools: boolean;
    /** At what a pod asks of accelerators: the cheapest type that it can run on. */
    readonly workloads: boolean;
  };
  /** Who completes and describes keys and values from the schemas of the kinds. */
  readonly schemaSupport: SchemaSupport;
  /** Render charts and kustomizations with programs on the PATH; never in an untrusted workspace. */
  readonly render: boolean;
  readonly workspaceScan: {
    /** Off: only open files are read. */
    readonly enable: boolean;
    /** Files larger than this many KiB (1024 bytes) are reported as skipped. */
    readonly maxFileSizeKiB: number;
  };
  readonly live: LiveSettings;
}

/** What the live panel reads, and what it compares with. */
export interface LiveSettings extends LiveSourceSettings {
  /** Seconds between two reads while the panel is visible. */
  readonly refreshSeconds: number;
  /** Show the live state above the workload while the panel is open. */
  readonly codeLens: { readonly enable: boolean };
  /** Limits by their names; those that are not named have their defaults. */
  readonly thresholds: Readonly<Record<string, number>>;
  /** Price of spot nodes as a part of the price on demand; 0: it is not known. */
  readonly spotPriceFactor: number;
  /** Pod labels that cost is split by. */
  readonly allocationLabels: readonly string[];
}

/** Sources beside the cluster. Each is asked only after the user has agreed to it. */
export interface LiveSourceSettings {
  readonly prometheus: {
    /** `https://prometheus.example.com`; empty: none by URL. */
    readonly url: string;
    /** `NAMESPACE/SERVICE:PORT`, reached through the API server. */
    readonly service: string;
    /** `ws-...`, a workspace of Amazon Managed Service for Prometheus. */
    readonly ampWorkspace: string;
    /** For tenants of Mimir and Cortex. */
    readonly tenant: string;
  };
  readonly cloudwatch: {
    readonly enable: boolean;
    /** The application's own namespace, next to Container Insights; empty: none. */
    readonly namespace: string;
    readonly dimensions: Readonly<Record<string, string>>;
    /** Metrics of the namespace by the ids of the panel's own vocabulary. */
    readonly metrics: Readonly<Record<string, CloudWatchMetricSettings>>;
    /** For the standard queries of Logs Insights; empty: those of Container Insights. */
    readonly logGroups: readonly string[];
  };
  readonly aws: {
    /** Empty: that of the cluster. */
    readonly region: string;
    /** Empty: that of the kubeconfig, else what the AWS SDK finds. */
    readonly profile: string;
  };
}

export interface CloudWatchMetricSettings {
  readonly name: string;
  /** `Average`, `Sum`, `p95`, ... */
  readonly stat: string;
  /** Multiplies into the unit of the vocabulary: 0.001 for milliseconds. */
  readonly factor?: number;
  /** Values are counts, which divided by the period are a rate. */
  readonly isCount?: boolean;
}

/**
 * `auto`: the YAML extension of Red Hat when it is active, with the schemas that we hand it, else we. `builtin`: we;
 * `redhat`: that extension only; `off`: neither.
 */
export type SchemaSupport = 'auto' | 'builtin' | 'redhat' | 'off';

export type PresetName = 'recommended' | 'strict' | 'minimal';

export type RuleLevel = 'off' | 'hint' | 'info' | 'warning' | 'error';

/** The section that `workspace/configuration` is asked for. */
export const settingsSection = 'plimsoll';

export const defaultSettings: Settings = {
  enable: true,
  preset: 'recommended',
  rules: {},
  configFile: '',
  hover: { enable: true },
  inlayHints: { models: true, nodePools: true, workloads: true },
  schemaSupport: 'auto',
  render: false,
  workspaceScan: { enable: true, maxFileSizeKiB: 1024 },
  live: {
    refreshSeconds: 15,
    codeLens: { enable: true },
    thresholds: {},
    spotPriceFactor: 0,
    allocationLabels: [],
    prometheus: { url: '', service: '', ampWorkspace: '', tenant: '' },
    cloudwatch: { enable: false, namespace: '', dimensions: {}, metrics: {}, logGroups: [] },
    aws: { region: '', profile: '' },
  },
};
