import type { Helper } from './lint-cells';

/** What the CLI needs of the world, passed in so that a test can stand in for all of it. */
export interface Host {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** All of standard input. */
  readStdin(): Promise<Buffer>;
  /** The Markdown document of a rule, when there is such a rule. */
  ruleDocument(id: string): string | undefined;
  readonly version: string;
  /** Where schemas of kinds are; absent: nothing is known of any kind. */
  readonly schemaFolder?: string;
  /** How many threads may work beside this one. */
  readonly spareThreads: number;
  startHelper(): Helper;
  /** Milliseconds since 1970; without it, the clock of the machine. */
  now?(): number;
  /** Aborted when the user wants the program to end; a command that goes on until then ends well. */
  interrupted?(): AbortSignal;
}

export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
}
