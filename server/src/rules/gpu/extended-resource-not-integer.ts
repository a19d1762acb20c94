import { isExtendedResource } from '../../kube/accelerators';
import { containers, type Container, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { isInteger, toNumber } from '../../kube/quantity';
import { replaceScalar } from '../../yaml/edit';
import { defineRule, type Fix } from '../rule';
import {
  amountText,
  containerField,
  containerTitle,
  pieces,
  refusedObject,
  scalarLike,
  soleAmount,
} from '../resources/wording';

export default defineRule({
  id: 'extended-resource-not-integer',
  summary: 'GPUs and other devices come in whole numbers',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check(resource, { report }) {
    for (const container of podTemplates(resource).flatMap(containers)) {
      const names = new Set([...container.limits, ...container.requests].map(({ name }) => name));
      for (const name of names) {
        if (!isExtendedResource(name)) continue;
        const amounts = [container.limits, container.requests].flatMap((list) =>
          list.filter((amount) => amount.name === name),
        );
        const [broken, ...others] = amounts.filter(isBroken);
        if (broken === undefined) continue;
        report({
          at: broken.entry.value,
          message: `${containerTitle(container)} asks for ${amountText(broken)} ${name}; devices come in whole numbers, so the API server rejects the ${refusedObject(resource)}`,
          related: others.map((other) => ({
            resource,
            at: other.entry.value,
            message: `${amountText(other)} is none either`,
          })),
          fixes: [roundUp(container, name)],
          ...containerField(container),
        });
      }
    }
  },
});

function isBroken({ quantity }: ResourceAmount): boolean {
  return quantity !== undefined && !isInteger(quantity);
}

/** Request and limit together, since they must be equal: the next whole number above both. */
function roundUp(container: Container, name: string): Fix | undefined {
  const both = [soleAmount(container.limits, name), soleAmount(container.requests, name)].filter(
    (amount) => amount !== undefined,
  );
  const written = [...container.limits, ...container.requests].filter((amount) => amount.name === name);
  if (written.length !== both.length) return undefined;
  const count = Math.max(...both.map(({ quantity }) => (quantity === undefined ? NaN : toNumber(quantity))));
  if (!(count > 0)) return undefined;
  const whole = Math.ceil(count);
  const edits = both.map(({ entry: { value }, quantity }) =>
    value.kind !== 'scalar'
      ? undefined
      : quantity !== undefined && toNumber(quantity) === whole
        ? []
        : replaceScalar(container.template.resource.placed.document, value, scalarLike(value, String(whole))),
  );
  if (edits.includes(undefined)) return undefined;
  return {
    title: `Ask for ${pieces(whole, name)}`,
    safe: false,
    edits: edits.flatMap((edit) => edit ?? []),
  };
}
