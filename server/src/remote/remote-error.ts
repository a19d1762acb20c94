/** Something that is asked over the network could not be had. The message is for the user: what, why, what to do. */
export class RemoteError extends Error {}
