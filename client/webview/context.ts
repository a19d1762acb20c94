import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Host } from './host';
import type { UiState } from './ui-state';
import { initialUiState } from './ui-state';

export interface PageContext {
  readonly host: Host;
  readonly ui: UiState;
  change(change: Partial<UiState>): void;
}

const Page = createContext<PageContext>({
  host: { act: () => undefined, save: () => undefined },
  ui: initialUiState,
  change: () => undefined,
});

export const PageProvider = Page.Provider;

export function usePage(): PageContext {
  return useContext(Page);
}
