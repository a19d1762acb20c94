import { runningContainers, type Container } from '../../kube/containers';
import { parseImage } from '../../kube/images';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';

/** Containers that run NVIDIA's exporter of GPU metrics. */
export function exportersIn(resource: Resource): readonly Container[] {
  if (!resource.placed.document.text.includes('dcgm-exporter')) return [];
  return podTemplates(resource)
    .flatMap(runningContainers)
    .filter(
      ({ imageText, image, name }) =>
        (imageText !== undefined && parseImage(imageText).name === 'dcgm-exporter') ||
        // Where a variable makes the image, the name has to do.
        (imageText === undefined && image !== undefined && name.includes('dcgm-exporter')),
    );
}
