import type { Report } from '@codelanes/protocol';
import { newSetupCall, type Unready } from '../setup-call.js';
import type { SystemCall } from '../stored-call.js';
import { storedBody } from './deliveries.js';
import { lanePath } from './stored-text.js';

/** What a worker said as the script `report` takes it, and the setups that it may enter. */
export function reportArguments(
  workerId: string,
  reports: readonly Report[],
): { readonly args: readonly string[]; readonly setups: readonly SystemCall[] } {
  const setups: SystemCall[] = [];
  const args = reports.flatMap((report) => {
    if (report.state !== 'unready') return argumentsOf(report);
    const setup = newSetupCall(workerId, report);
    setups.push(setup);
    return unreadyArguments(setup);
  });
  return { args, setups };
}

function argumentsOf(report: Exclude<Report, Unready>): readonly string[] {
  switch (report.state) {
    case 'started':
    case 'busy':
      return [report.state, report.callId, report.token];
    case 'denied':
    case 'interrupted':
      return [report.state, report.callId, ''];
    case 'closed':
      return [report.state, '', JSON.stringify(report.lanes)];
    case 'freed':
      return [report.state, '', ''];
  }
}

/** The lane with the call that sets it up, unless there is one already. */
function unreadyArguments(setup: SystemCall): readonly string[] {
  const { callId, lane, boundMs } = setup;
  return ['unready', callId, `${lanePath(lane)}|${boundMs}|${storedBody(setup)}`];
}
