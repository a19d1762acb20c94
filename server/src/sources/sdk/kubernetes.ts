/**
 * What is used of the Kubernetes client, loaded with the first question to a cluster. It is a bundle of its own, so that
 * a server and a command line that ask no cluster never read it.
 */
export { KubeConfig } from '@kubernetes/client-node';
