/** Something that is asked over the network could not be had. The message is for the user: what, why, what to do. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
}

/** Told by its name: who asks and who answers are files of their own, each with its own class. */
export function isRemoteError(error: unknown): error is RemoteError {
  return error instanceof Error && error.name === 'RemoteError';
}
