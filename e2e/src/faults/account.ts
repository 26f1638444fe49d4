import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../rig/caller.js';
import type { Child } from '../rig/child.js';
import type { Fleet } from './fleet.js';
import { requestIdOf, type Load, type Piece } from './load.js';

/** Pieces of work that are told of one by one. */
const piecesShown = 8;
const answerWithinMs = 5_000;
const longestText = 4_000;

/** Whatever stands in Redis with that id in its key or field, without any idea of what it means. */
const entriesScript = `
  local found = {}
  for _, key in ipairs(redis.call('KEYS', '*')) do
    local kind, entries = redis.call('TYPE', key).ok, {}
    if kind == 'hash' then entries = redis.call('HGETALL', key)
    elseif kind == 'zset' then entries = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    elseif kind == 'string' then entries = { '', redis.call('GET', key) } end
    for at = 1, #entries, 2 do
      local name = key .. ' ' .. entries[at]
      if string.find(name, ARGV[1], 1, true) then found[#found + 1] = name .. ' = ' .. entries[at + 1] end
    end
  end
  return found`;

/** What everybody says of work that does not end: its callers, each bridge, the workers' logs and Redis. */
export async function accountOf(fleet: Fleet, load: Load): Promise<string> {
  const now = performance.now();
  const { bridges, options } = fleet;
  const pieces = load.underWay.slice(0, piecesShown);
  const parts = await Promise.all([
    ...pieces.map((piece) => accountOfPiece(fleet, load, piece, now)),
    ...options.workers.map((workerId) => accountOfWorker(fleet, workerId)),
  ]);
  return [
    `No piece of work began or ended for ${seconds(now - load.movedAt)}; ${load.underWay.length} are under way.`,
    ...parts.flat(),
    ...bridges.live.map(({ child, url }) => `bridge ${url}: ${processOf(child)}`),
    `Redis: ${await told(bridges.redis.ask('PING'))}`,
  ].join('\n');
}

async function accountOfPiece(
  fleet: Fleet,
  load: Load,
  { work, beganAt, attempts }: Piece,
  now: number,
): Promise<string[]> {
  const { workerId, caller, isDurable, request } = work;
  const latest = attempts.at(-1) ?? { name: 'nothing', callId: undefined };
  const { callId = 'a call without a name' } = latest;
  const own = new Set(attempts.map((attempt) => attempt.callId ?? attempt.name));
  const before = load.told.findLast((answer) => own.has(answer.callId))?.words ?? 'nothing';
  const run = fleet.runs.find((begun) => begun.callId === callId);
  const path = isDurable
    ? `/v1/workspace-tools/requests/${requestIdOf(latest)}`
    : `/v1/calls/${callId}?waitMs=0`;
  return [
    `${workerId}: ${isDurable ? 'durable ' : ''}${JSON.stringify(request)}, for ${seconds(now - beganAt)}`,
    `  sent ${attempts.length} times; told before: ${before}`,
    `  ${callId} ${run === undefined ? 'never began' : run.end === undefined ? 'has begun' : 'has ended'}`,
    ...(await asEachBridgeSays(fleet, path, fleet.bridges.tokens.callers[caller])),
    `  Redis has: ${await told(fleet.bridges.redis.ask('EVAL', entriesScript, '0', callId))}`,
  ];
}

async function accountOfWorker(fleet: Fleet, workerId: string): Promise<string[]> {
  const path = `/v1/bridge/workers/${workerId}/lanes`;
  return [
    `${workerId}: ${processOf(fleet.worker(workerId).child)}`,
    ...(await asEachBridgeSays(fleet, path, fleet.bridges.tokens.admin)),
  ];
}

function asEachBridgeSays({ bridges }: Fleet, path: string, token = ''): Promise<string[]> {
  return Promise.all(
    bridges.live.map(async ({ url }) => {
      const answer = new Caller(url, token, '').send('GET', path);
      return `  ${url} says: ${await told(answer.then(({ status, text }) => `${status} ${text}`))}`;
    }),
  );
}

/** Whether it lives, by the letter of the kernel, and the end of its log. */
function processOf({ process: { pid, exitCode, signalCode }, log }: Child): string {
  const end = log.slice(-longestText);
  if (exitCode !== null || signalCode !== null) return `ended by ${signalCode ?? exitCode}; ${end}`;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return `process ${pid} is ${stat.charAt(stat.lastIndexOf(')') + 2)}; ${end}`;
}

/** What was answered, or why nothing was. */
async function told(answer: Promise<string>): Promise<string> {
  const silence = sleep(answerWithinMs, `nothing within ${seconds(answerWithinMs)}`, { ref: false });
  const text = await Promise.race([answer.catch(String), silence]);
  return text.slice(0, longestText);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
