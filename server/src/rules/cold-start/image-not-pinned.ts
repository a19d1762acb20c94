import { parseImage } from '../../kube/images';
import { serversOf } from '../model/servings';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';

export default defineRule({
  id: 'image-not-pinned',
  summary: 'The image of a model server needs a version',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    for (const { container, title } of serversOf(resource)) {
      const { image, imageText } = container;
      // A variable or a blank to fill in can hold a version.
      if (image === undefined || imageText === undefined || /^$|[$<>{}]/.test(imageText)) continue;
      const { tag, digest, name, repository } = parseImage(imageText);
      // Repositories are in lower case: capitals are a blank, too (`REPLACE_WITH_IMAGE`).
      if (/[A-Z]/.test(repository)) continue;
      if (digest !== undefined || (tag !== undefined && tag !== 'latest')) continue;
      // Kustomizations set tags in a list of their own.
      if (name === '' || mayBePatched(workspace, resource, name)) continue;
      report({
        at: image,
        message: `${containerTitle(container)} runs ${title} from ${imageText}, which names no version: each node pulls the one of its day, so that replicas differ, and what fits today may not fit tomorrow`,
        ...containerField(container),
      });
    }
  },
});
