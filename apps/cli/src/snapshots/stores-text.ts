import type { StoreReport } from '@codelanes/worker';
import { table } from '../table/table.js';

/** What each store keeps and what goes, for people; `applied` where it is gone by now. */
export function storesText(reports: readonly StoreReport[], applied: boolean): string {
  if (reports.length === 0) return 'None of these definitions keeps snapshots (setup.reuse.snapshot).';
  const lines = reports.flatMap((report) => [...storeLines(report, applied), '']);
  const goes = reports.some(({ removed, leftovers }) => removed.length + leftovers > 0);
  return [...lines, lastLine(goes, applied)].join('\n');
}

function storeLines({ path, kept, removed, leftovers, complete }: StoreReport, applied: boolean): string[] {
  const verb = applied ? 'removed' : 'would be removed';
  const rows = [
    ...kept.map((snapshot) => ({ ...snapshot, fate: 'kept' })),
    ...removed.map((snapshot) => ({ ...snapshot, fate: `${verb}: ${snapshot.why}` })),
  ].map(({ key, bytes, usedAt, fate }) => [
    key.slice(0, shownDigits),
    String(bytes),
    new Date(usedAt).toISOString(),
    fate,
  ]);
  return [
    path,
    ...(rows.length === 0
      ? ['It keeps no snapshots.']
      : table(['SNAPSHOT', 'BYTES', 'LAST USED', 'FATE'], rows)),
    ...(leftovers === 0 ? [] : [`${leftovers} left half-made: ${verb}.`]),
    ...(complete ? [] : ['It has more names than one look goes through (scanLimit), so there may be more.']),
  ];
}

const shownDigits = 12;

function lastLine(goes: boolean, applied: boolean): string {
  if (!goes) return 'Nothing is to be removed.';
  return applied ? 'Removed.' : 'Nothing was removed yet: add --apply.';
}
