import { dnsLabel, dnsSubdomain } from '../../kube/names';
import { isClosed, listIn, partIn, partsIn, textAt, type Part } from '../../kube/part';
import { byText, givenOf, shown, type Inspection } from './inspection';

/** Devices of Dynamic Resource Allocation: the pod names its claims, and containers those that they use. */
export function checkDeviceClaims(cx: Inspection, spec: Part): void {
  const claims = partsIn(spec, 'resourceClaims');
  for (const claim of claims) {
    cx.form(claim, 'name', dnsLabel, 'Name of the resource claim');
    cx.form(claim, 'resourceClaimName', dnsSubdomain, 'The resourceClaimName');
    cx.form(claim, 'resourceClaimTemplateName', dnsSubdomain, 'The resourceClaimTemplateName');
    if (!cx.isCertain) continue;
    const [, second] = givenOf(claim, ['resourceClaimName', 'resourceClaimTemplateName']);
    if (second !== undefined) {
      cx.add(
        'field-not-allowed',
        second,
        'A resource claim of the pod has both resourceClaimName and resourceClaimTemplateName, and takes one',
      );
    } else if (cx.lacks(claim, 'resourceClaimName') && cx.lacks(claim, 'resourceClaimTemplateName')) {
      cx.add(
        'required-value-missing',
        claim.place,
        'A resource claim of the pod has neither resourceClaimName nor resourceClaimTemplateName',
      );
    }
  }
  cx.unique(
    claims,
    (claim) => byText(textAt(claim, 'name')),
    (name) => `Two resource claims of the pod are called ${shown(name)}`,
  );
  const list = listIn(spec, 'resourceClaims');
  const names = claims.map((claim) => textAt(claim, 'name')?.text);
  const known =
    names.includes(undefined) || (list === undefined ? !cx.lacks(spec, 'resourceClaims') : !isClosed(list))
      ? undefined
      : names.filter((name) => name !== undefined);
  for (const container of [...partsIn(spec, 'containers'), ...partsIn(spec, 'initContainers')])
    checkUses(cx, container, known);
}

/** @param known the names of the pod's claims; `undefined` where there may be others. */
function checkUses(cx: Inspection, container: Part, known: readonly string[] | undefined): void {
  const uses = partsIn(partIn(container, 'resources'), 'claims');
  for (const use of uses) {
    const name = textAt(use, 'name');
    if (name === undefined || name.text === '' || known === undefined || !cx.isCertain) continue;
    if (known.includes(name.text)) continue;
    cx.add('value-unsupported', name.node, `The pod has no resource claim ${shown(name.text)}`, {
      fixes: [cx.meant(name.node, known)],
    });
  }
  cx.unique(
    uses,
    (use) => {
      const name = textAt(use, 'name');
      const request = textAt(use, 'request')?.text ?? '';
      return name === undefined ? undefined : { key: `${name.text}/${request}`, at: name.node };
    },
    (key) => `A container claims ${shown(key.replace(/\/$/, ''))} twice`,
  );
}
