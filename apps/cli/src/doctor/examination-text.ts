import type { Finding, LaneReport, NetworkPolicy } from '@codelanes/worker';
import { durationText } from '../lanes/duration-text.js';
import type { ExaminedEnvironment, ExaminedFault, Examination } from './examination.js';
import { plainText } from '../terminal/plain-text.js';

/** What was found, for people. */
export function examinationText({ ok, faults, environments, machine }: Examination): string {
  const parts = [
    faults.map(faultText),
    ...environments.flatMap(environmentParts),
    ['This machine', ...machine.map(findingText)],
    [ok ? 'All is in order.' : 'Something is wrong: mend what is marked with "!!", then ask again.'],
  ];
  const shown = parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return plainText(shown.join('\n\n'));
}

function faultText({ file, line, column, key, sentence }: ExaminedFault): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return `!! ${place}: ${key === undefined ? '' : `${key}: `}${sentence}`;
}

const marks: Record<Finding['verdict'], string> = { ok: 'ok', limited: ' !', failed: '!!' };

function findingText({ subject, verdict, sentence }: Finding): string {
  return `${marks[verdict]} ${subject.padEnd(9)} ${sentence}`;
}

function environmentParts(environment: ExaminedEnvironment): string[][] {
  const { name, file, laneRouting, root, repositories, findings } = environment;
  const routing = laneRouting === undefined ? [] : [line('routing', routingText)];
  return [
    [`Environment ${name} (${file})`, ...laneLines(root), ...routing, ...findings.map(findingText)],
    ...repositories.map((repository) => [`Repository ${repository.lane}`, ...laneLines(repository)]),
  ];
}

function laneLines(report: LaneReport): string[] {
  const { lane, workspaces, folder, slots, actions, remote, credentials } = report;
  const rows: readonly (readonly [string, string])[] = [
    ['lane', lane],
    ['workspace', workspaces.map(workspaceText).join(', or ')],
    ['folder', folder],
    ['worktrees', worktreesText(report)],
    ['commands', slots === undefined ? 'as many at once as the worker has slots' : `${slots} at once`],
    ['setup', setupText(report)],
    ['network', networkText(report.network)],
    ['remote', remote ?? 'none'],
    ['secrets', credentials ?? 'none'],
    ['actions', actions.length === 0 ? 'none' : actions.join(', ')],
  ];
  return rows.map(([what, text]) => line(what, text));
}

const routingText = 'calls that name no lane go to the one in which their path or cwd lies';

function line(what: string, text: string): string {
  return `   ${what.padEnd(9)} ${text}`;
}

function workspaceText({ workspaceId, repository }: LaneReport['workspaces'][number]): string {
  return repository === undefined ? workspaceId : `${workspaceId} with repository ${repository}`;
}

function worktreesText({ lane, worktrees }: LaneReport): string {
  if (!worktrees.offered) return `no lanes: ${worktrees.why}`;
  const now = worktrees.verified.length === 0 ? 'none now' : `now ${worktrees.verified.join(', ')}`;
  const refused = worktrees.refused.map(({ message }) => `\n${' '.repeat(13)}refused: ${message}`);
  return `${lane}/.worktrees/NAME, ${now}${refused.join('')}`;
}

function setupText({ setup }: LaneReport): string {
  if (setup === undefined) return 'none';
  const when = setup.when === 'worker start' ? 'at each start of the worker' : 'once in each new worktree';
  const copied = setup.copy.length === 0 ? '' : `, after copying ${setup.copy.join(', ')}`;
  const silent =
    setup.idleTimeoutMs === undefined ? '' : ` and ${durationText(setup.idleTimeoutMs)} of silence`;
  const reused = setup.reused ? ', unless what it made is still good' : '';
  return `${when}, at most ${durationText(setup.timeoutMs)}${silent}${copied}${reused}`;
}

function networkText(network: NetworkPolicy): string {
  switch (network.kind) {
    case 'none':
      return 'none';
    case 'public':
      return 'public addresses';
    case 'allowed':
      return network.domains
        .map(({ host, subdomains, ports }) => `${subdomains ? '*.' : ''}${host}:${ports.join('/')}`)
        .join(', ');
  }
}
