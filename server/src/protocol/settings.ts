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
  readonly workspaceScan: {
    /** Off: only open files are read. */
    readonly enable: boolean;
    /** Files larger than this many KiB (1024 bytes) are reported as skipped. */
    readonly maxFileSizeKiB: number;
  };
}

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
  workspaceScan: { enable: true, maxFileSizeKiB: 1024 },
};
