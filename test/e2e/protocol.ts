/** What the suite (in the extension host) asks of its launcher (which holds the window). */
export type Request =
  | { readonly kind: 'result'; readonly result: Result }
  /** Moves the cursor to the end of the line with this text, clicks the light bulb, then the action with this title. */
  | { readonly kind: 'light-bulb'; readonly line: string; readonly title: string }
  /** Reads the window's text inside an element, or undefined while there is none. */
  | { readonly kind: 'text'; readonly selector: string }
  /** The squiggles drawn in the editor: how many of each severity. */
  | { readonly kind: 'squiggles' }
  /** Moves the pointer over the last word of the line with this text and reads the hover. */
  | { readonly kind: 'hover'; readonly line: string }
  /** Opens the hover of the language status and reads it. */
  | { readonly kind: 'language-status' }
  /** Clicks the line with this text and moves the cursor to its end. */
  | { readonly kind: 'cursor-to-end'; readonly line: string }
  /** Types into the focused editor as a person does. */
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'press'; readonly key: string }
  /** Reads the page of the live panel, as soon as its text has all of these. */
  | { readonly kind: 'panel-text'; readonly wanted: readonly string[] }
  /** Clicks a button of the live panel. */
  | { readonly kind: 'panel-click'; readonly name: string }
  /** Presses a key in the live panel. */
  | { readonly kind: 'panel-press'; readonly key: string }
  /** How many connections the API server of the tests' kubeconfig has had. */
  | { readonly kind: 'contacts' }
  | { readonly kind: 'screenshot'; readonly name: string };

export interface Result {
  readonly name: string;
  readonly ms: number;
  /** The stack of the failure; absent: passed. */
  readonly error?: string;
}

export type Reply = { readonly value: unknown } | { readonly error: string };

export interface Squiggles {
  readonly error: number;
  readonly warning: number;
  readonly info: number;
}

/** Environment variable that tells the suite where its launcher listens. */
export const bridgeVariable = 'PLIMSOLL_TEST_BRIDGE';
