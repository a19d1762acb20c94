/**
 * What the lab is made of. A program is built once for each version of it; raising a version here builds the new one
 * beside the old one.
 */

/** The control plane is that of the newest Kubernetes on EKS whose libraries build with the Go below. */
export const kubernetesVersion = 'v1.36.1';

/** The libraries that Kubernetes publishes from its `staging` folder carry its version with a leading 0. */
export const kubernetesLibraryVersion = kubernetesVersion.replace(/^v1\./, 'v0.');

export const etcdVersion = 'v3.6.13';
export const kwokVersion = 'v0.7.0';
export const karpenterVersion = 'v1.14.0';
export const kedaVersion = 'v2.20.2';
/** What renders charts and kustomizations for `plimsoll lint --render`. */
export const helmVersion = 'v3.19.0';
export const kustomizeVersion = 'v5.7.1';
export const motoVersion = '5.2.5';

/** The oldest Go that all modules above accept (`go` lines of their `go.mod`). */
export const goVersion = { major: 1, minor: 26 } as const;

/** A folder of CustomResourceDefinitions inside a Go module. */
export interface CrdSource {
  readonly module: string;
  readonly version: string;
  /** Relative to the root of the module. */
  readonly folder: string;
  /** Parts of the file names to take, since each definition makes the start longer; absent: all. */
  readonly only?: readonly string[];
}

/**
 * The definitions that manifests of AI inference use. The provider for AWS brings the NodePool and NodeClaim that
 * people on EKS have: those of Karpenter with rules about AWS labels on top.
 */
export const crdSources: readonly CrdSource[] = [
  {
    module: 'github.com/aws/karpenter-provider-aws',
    version: 'v1.14.0',
    folder: 'pkg/apis/crds',
  },
  { module: 'sigs.k8s.io/karpenter', version: karpenterVersion, folder: 'kwok/apis/crds' },
  { module: 'github.com/kedacore/keda/v2', version: kedaVersion, folder: 'config/crd/bases' },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    folder: 'example/prometheus-operator-crd',
    only: ['servicemonitors', 'podmonitors', 'prometheusrules'],
  },
  { module: 'github.com/ray-project/kuberay/ray-operator', version: 'v1.5.0', folder: 'config/crd/bases' },
  // The newest that Go 1.26.0 takes.
  {
    module: 'github.com/argoproj/argo-rollouts',
    version: 'v1.8.4',
    folder: 'manifests/crds',
    only: ['rollout-'],
  },
  {
    module: 'github.com/kubeflow/training-operator',
    version: 'v1.8.1',
    folder: 'manifests/base/crds',
    only: ['pytorchjobs', 'mpijobs'],
  },
];
