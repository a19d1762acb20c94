import { visible } from '../text';

/** What stands where the first answer will be; later ones replace data, not this. */
export function Skeleton({ title }: { readonly title: string }) {
  return (
    <main class="skeleton" aria-busy="true">
      <p role="status">{title === '' ? 'Starting' : `Reading ${visible(title)}`}</p>
      <div class="bone bone-banner" aria-hidden="true" />
      <div class="bones" aria-hidden="true">
        {[0, 1, 2, 3, 4, 5].map((each) => (
          <div key={each} class="bone bone-tile" />
        ))}
      </div>
      <div class="bones" aria-hidden="true">
        {[0, 1].map((each) => (
          <div key={each} class="bone bone-chart" />
        ))}
      </div>
    </main>
  );
}
