import { cutMiddle, visible } from '../text';

/**
 * A name that a cluster gave us, in the editor's font: isolated, so that its direction is its own affair, cut in the
 * middle when it is long, and whole on hover and on copy.
 */
export function Name({ text, length = 40 }: { readonly text: string; readonly length?: number }) {
  const whole = visible(text);
  const short = cutMiddle(whole, length);
  return (
    <bdi class="name" data-copy={whole} title={short === whole ? undefined : whole}>
      {short}
    </bdi>
  );
}
