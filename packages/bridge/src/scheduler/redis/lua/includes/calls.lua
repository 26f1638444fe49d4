--- @include "worker"
--- @include "pending"
local calls = {}
local ended = { settled = true, withdrawn = true, interrupted = true }
-- In place of a bridge: the call of a durable request, which no bridge has to stay alive for. Its attempt is the
-- time at which it leaves the queue.
local durable = '!'
local durableEndKept = 86400000
-- The principal of the calls that no caller asked for: setups. They have no bridge, and their attempt is how long
-- each may run in ms, '' where that is not known.
local system = 'system'

function store.endKept(call)
  return call.replica == durable and durableEndKept or endRemembered
end

-- nil also for a call that ended so long ago that it only waits to be deleted.
function store.readCall(id)
  if calls[id] then return calls[id] end
  local text = store.callField(id)
  if not text then return nil end
  local state, since, submitted, started, revision, sequence, lane, mode, pool, principal, fingerprint, operation, replica,
    attempt, pause = string.match(text,
      '^(%a+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d*)|([^|]*)|(%a)|(%a)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  local call = { id = id, state = state, since = since, submitted = submitted, started = started, revision = revision,
    sequence = sequence, lane = lane, mode = mode, pool = pool, principal = principal, fingerprint = fingerprint,
    operation = operation, replica = replica, attempt = attempt, pause = pause }
  if ended[call.state] and tonumber(call.since) + store.endKept(call) <= worker.now then return nil end
  calls[id] = call
  return call
end

function store.boundOf(call)
  return call.operation == 'setup' and call.attempt or ''
end

function store.writeCall(call)
  calls[call.id] = call
  store.setField('calls', call.id, table.concat({ call.state, call.since, call.submitted, call.started, call.revision, call.sequence,
    call.lane, call.mode, call.pool, call.principal, call.fingerprint, call.operation, call.replica, call.attempt, call.pause },
    '|'))
end

-- Every change of a call goes through here; it is told to who listens, what comes back to the queue as `resumed`: it
-- has begun.
function store.enter(call, state, since)
  call.state, call.since, call.revision = state, since, call.revision + 1
  store.writeCall(call)
  news[call.id] = state == 'waiting' and call.pause ~= '' and 'resumed' or state
end

-- Calls that left the queue at their deadline, or whose outcome nobody knows: told once, to whom this script answers.
local losses = ''

function store.noteLoss(how, call)
  losses = losses .. ' ' .. how .. ':' .. call.operation
end

function store.forget(limit)
  local ids = redis.call('ZRANGEBYSCORE', endedKey, '-inf', worker.now, 'LIMIT', 0, limit)
  for _, id in ipairs(ids) do
    store.dropField('calls', id)
    store.dropField('calls', id .. ':e')
    store.dropField('calls', id .. ':b')
    calls[id] = nil
  end
  if #ids > 0 then redis.call('ZREM', endedKey, unpack(ids)) end
end
