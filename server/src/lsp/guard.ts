import { ErrorCodes, LSPErrorCodes, ResponseError } from 'vscode-languageserver';

/** Where the server writes what it did: the client's log. Never secrets, never the contents of files. */
export interface Log {
  error(message: string): void;
  warn(message: string): void;
  info(message: string): void;
}

/** The parameters of a message are not what the protocol says; the message names the first thing that is wrong. */
export class InvalidParams extends Error {}

/** The answer to a request that its sender no longer wants. */
export function cancelled(): ResponseError<never> {
  return new ResponseError(LSPErrorCodes.RequestCancelled, 'The request was cancelled');
}

/**
 * What an error may say in a log. Messages of our own and of libraries can quote the text they choked on (`JSON.parse`
 * does), so only those of the JavaScript engine's own error classes, which name parts of programs, are kept.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`;
  const code = (error as NodeJS.ErrnoException).code;
  const spoken = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12);
  const head = `${error.name}${typeof code === 'string' ? ` ${code}` : ''}${spoken ? `: ${error.message}` : ''}`;
  return [head, ...frames].join('\n');
}

export interface Guard {
  /** Runs the handler; whatever it throws becomes the request's error, and the server lives on. */
  request<P, R>(
    method: string,
    handler: (params: P, cancellation: Cancellation) => R | Promise<R>,
  ): (params: P, cancellation: Cancellation) => Promise<R | ResponseError<never>>;
  /** Runs the handler; whatever it throws is logged. */
  notification<P>(method: string, handler: (params: P) => void | Promise<void>): (params: P) => void;
  /** Awaits work that nobody waits for; what it throws is logged. */
  background(name: string, work: () => Promise<void>): Promise<void>;
}

/** Where the server is in its life. It answers questions only while it runs. */
export type Stage = 'new' | 'running' | 'shut-down';

export interface Cancellation {
  readonly isCancellationRequested: boolean;
}

/**
 * Wraps handlers so that no mistake of ours, or of a client, ends the process. The same error of the same method is
 * logged once, since a handler that fails at each keystroke must not bury everything else.
 */
export function createGuard(log: Log, stage: () => Stage): Guard {
  const logged = new Set<string>();
  const report = (method: string, error: unknown): void => {
    const text = `${method} failed: ${describeError(error)}`;
    if (logged.has(text)) return;
    logged.add(text);
    log.error(text);
  };
  return {
    request(method, handler) {
      return async (params, cancellation) => {
        switch (stage()) {
          case 'new':
            return new ResponseError(ErrorCodes.ServerNotInitialized, 'The server has not been initialized');
          case 'shut-down':
            return new ResponseError(ErrorCodes.InvalidRequest, 'The server has been shut down');
          case 'running':
        }
        if (cancellation.isCancellationRequested) return cancelled();
        try {
          return await handler(params, cancellation);
        } catch (error) {
          if (error instanceof ResponseError) return error as ResponseError<never>;
          if (error instanceof InvalidParams) {
            return new ResponseError(ErrorCodes.InvalidParams, `${method}: ${error.message}`);
          }
          report(method, error);
          return new ResponseError(
            ErrorCodes.InternalError,
            `${method} failed inside Plimsoll; the log holds the details`,
          );
        }
      };
    },
    notification(method, handler) {
      return (params) => {
        // The protocol has such notifications dropped.
        if (stage() !== 'running') return;
        const failed = (error: unknown): void => {
          if (error instanceof InvalidParams) log.warn(`Ignored ${method}: ${error.message}`);
          else report(method, error);
        };
        try {
          const result = handler(params);
          if (result instanceof Promise) result.catch(failed);
        } catch (error) {
          failed(error);
        }
      };
    },
    async background(name, work) {
      try {
        await work();
      } catch (error) {
        report(name, error);
      }
    },
  };
}
