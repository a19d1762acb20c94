import type { Table } from '../../../server/src/panel/model';
import { usePage } from '../context';
import { DataTable } from './table';

export const podFilterId = 'pod-filter';

export function Pods({ table }: { readonly table: Table }) {
  const { ui, change } = usePage();
  return (
    <DataTable
      table={table}
      title="Pods"
      filter={ui.podFilter}
      aside={
        <input
          id={podFilterId}
          type="search"
          class="filter"
          placeholder="Filter ( / )"
          aria-label="Filter pods"
          value={ui.podFilter}
          onInput={(event) => change({ podFilter: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            change({ podFilter: '' });
            event.currentTarget.blur();
          }}
        />
      }
    />
  );
}
