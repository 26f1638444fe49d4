import type { Report } from '@codelanes/protocol';

/** A report as the script `report` takes it. */
export function reportArguments(report: Report): readonly string[] {
  switch (report.state) {
    case 'started':
    case 'busy':
      return [report.state, report.callId, report.token];
    case 'denied':
    case 'interrupted':
      return [report.state, report.callId, ''];
    case 'quarantines':
      return [report.state, '', JSON.stringify(report.quarantined)];
    case 'freed':
      return [report.state, '', ''];
  }
}
