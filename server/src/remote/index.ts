/**
 * What is read over the network. The command line loads it when it is asked for; it is built as a file of its own, since
 * the libraries in it are larger than everything else together.
 */
export { readInstanceTypes } from './aws';
export { readHubModel } from './hub';
