/**
 * Colours for canvases, which cannot use CSS variables by themselves. They are the theme's, read again when it changes.
 */
export interface Palette {
  readonly foreground: string;
  readonly faint: string;
  readonly grid: string;
  readonly background: string;
  readonly font: string;
  readonly lines: readonly string[];
  readonly states: Readonly<Record<'good' | 'info' | 'warning' | 'critical' | 'unknown', string>>;
}

const listeners = new Set<() => void>();
let current: Palette | undefined;

export function palette(): Palette {
  current ??= read();
  return current;
}

/** Calls back when the colours have changed, until the returned function is called. */
export function onPaletteChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows VS Code, which changes the class of the body and the variables of the root with the theme. */
export function followTheme(): void {
  const changed = (): void => {
    current = undefined;
    for (const listener of listeners) listener();
  };
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
}

function read(): Palette {
  const style = getComputedStyle(document.body);
  const color = (name: string, fallback: string): string => {
    const value = style.getPropertyValue(name).trim();
    return value === '' ? fallback : value;
  };
  const foreground = color('--vscode-foreground', style.color);
  const line = (name: string): string => color(`--vscode-charts-${name}`, foreground);
  return {
    foreground,
    faint: color('--vscode-descriptionForeground', foreground),
    grid: color('--vscode-charts-lines', foreground),
    background: color('--vscode-editor-background', 'Canvas'),
    font: style.fontFamily,
    lines: [line('blue'), line('orange'), line('green'), line('purple'), line('yellow'), line('red')],
    states: {
      good: color('--vscode-testing-iconPassed', line('green')),
      info: color('--vscode-charts-blue', foreground),
      warning: color('--vscode-list-warningForeground', line('yellow')),
      critical: color('--vscode-testing-iconFailed', line('red')),
      unknown: color('--vscode-descriptionForeground', foreground),
    },
  };
}
