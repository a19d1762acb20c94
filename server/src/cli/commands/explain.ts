import { ruleMetas } from '../../engine/registry';
import { nearest } from '../../rules/nearest';
import { UsageError } from '../arguments';
import type { ExplainCommand } from '../arguments';
import type { Host } from '../host';

/** `plimsoll explain <rule>`: the rule's own document, as it is. */
export function explain(command: ExplainCommand, host: Host): number {
  const meta = ruleMetas.find(({ id }) => id === command.rule);
  if (meta === undefined) {
    const close = nearest(
      command.rule,
      ruleMetas.map(({ id }) => id),
    );
    throw new UsageError(
      `there is no rule "${command.rule}"; ${close === undefined ? 'plimsoll rules lists all' : `did you mean ${close}?`}`,
    );
  }
  const document = host.ruleDocument(meta.id);
  if (document === undefined) {
    host.stderr.write(`plimsoll: the document of ${meta.id} is not part of this installation\n`);
    return 2;
  }
  host.stdout.write(document.endsWith('\n') ? document : `${document}\n`);
  return 0;
}
