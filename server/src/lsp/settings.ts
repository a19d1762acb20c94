import type { PresetName, RuleLevel, SchemaSupport, Settings } from '../protocol/settings';
import { defaultSettings } from '../protocol/settings';
import { parseLiveSettings } from './live-settings';
import { isFields } from './params';

const presets: readonly PresetName[] = ['recommended', 'strict', 'minimal'];
const supports: readonly SchemaSupport[] = ['auto', 'builtin', 'redhat', 'off'];
const levels: readonly RuleLevel[] = ['off', 'hint', 'info', 'warning', 'error'];

export interface ParsedSettings {
  readonly settings: Settings;
  /** Sentences for the log: what cannot be used, and what is used instead. */
  readonly problems: readonly string[];
}

/**
 * Settings from whatever a client sent for the section `plimsoll`. What cannot be used falls back to its default and
 * is reported; keys that are not known are left alone, since clients keep settings of their own there.
 */
export function parseSettings(value: unknown, isRule: (id: string) => boolean): ParsedSettings {
  const problems: string[] = [];
  if (value === undefined || value === null) return { settings: defaultSettings, problems };
  if (!isFields(value)) {
    return {
      settings: defaultSettings,
      problems: ['Setting "plimsoll" is not an object; defaults are used'],
    };
  }
  const read = <T>(
    from: Readonly<Record<string, unknown>>,
    name: string,
    fallback: T,
    wanted: string,
    accepts: (value: unknown) => value is T,
  ): T => {
    const given = from[name.slice(name.lastIndexOf('.') + 1)];
    if (given === undefined || given === null) return fallback;
    if (accepts(given)) return given;
    problems.push(`Setting "plimsoll.${name}" is not ${wanted}; ${JSON.stringify(fallback)} is used`);
    return fallback;
  };
  const group = (name: string): Readonly<Record<string, unknown>> =>
    read(value, name, {}, 'an object', isFields);
  const hover = group('hover');
  const hints = group('inlayHints');
  const scan = group('workspaceScan');
  const rules: Record<string, RuleLevel> = {};
  for (const [id, level] of Object.entries(group('rules'))) {
    const known = levels.find((each) => each === level);
    if (!isRule(id)) problems.push(`Setting "plimsoll.rules" names "${id}", which is no rule; it is ignored`);
    else if (known === undefined) {
      problems.push(
        `Setting "plimsoll.rules": the level of "${id}" is none of ${levels.join(', ')}; it is ignored`,
      );
    } else rules[id] = known;
  }
  return {
    settings: {
      enable: read(value, 'enable', defaultSettings.enable, 'true or false', isBoolean),
      preset: read(
        value,
        'preset',
        defaultSettings.preset,
        `one of ${presets.join(', ')}`,
        (given): given is PresetName => presets.some((preset) => preset === given),
      ),
      rules,
      configFile: read(
        value,
        'configFile',
        defaultSettings.configFile,
        'a text',
        (given): given is string => typeof given === 'string',
      ),
      hover: {
        enable: read(hover, 'hover.enable', defaultSettings.hover.enable, 'true or false', isBoolean),
      },
      inlayHints: {
        models: read(
          hints,
          'inlayHints.models',
          defaultSettings.inlayHints.models,
          'true or false',
          isBoolean,
        ),
        nodePools: read(
          hints,
          'inlayHints.nodePools',
          defaultSettings.inlayHints.nodePools,
          'true or false',
          isBoolean,
        ),
        workloads: read(
          hints,
          'inlayHints.workloads',
          defaultSettings.inlayHints.workloads,
          'true or false',
          isBoolean,
        ),
      },
      schemaSupport: read(
        value,
        'schemaSupport',
        defaultSettings.schemaSupport,
        `one of ${supports.join(', ')}`,
        (given): given is SchemaSupport => supports.some((support) => support === given),
      ),
      render: read(value, 'render', defaultSettings.render, 'true or false', isBoolean),
      workspaceScan: {
        enable: read(
          scan,
          'workspaceScan.enable',
          defaultSettings.workspaceScan.enable,
          'true or false',
          isBoolean,
        ),
        maxFileSizeKiB: read(
          scan,
          'workspaceScan.maxFileSizeKiB',
          defaultSettings.workspaceScan.maxFileSizeKiB,
          'a number above 0',
          (given): given is number => typeof given === 'number' && given > 0,
        ),
      },
      live: parseLiveSettings(value['live'], problems),
    },
    problems,
  };
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}
