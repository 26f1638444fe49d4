--- @include "calls"
--[[
  What Redis holds has a name, its replication id. It is another one whenever a process was started, or took over from
  the one that it had copied, and either may have come without the last seconds. `history` of the worker is the name
  that was seen last, and since when it is another one than before; '' where there was none before.
]]
-- For so long after that, what comes may have been there before, and have been forgotten: a durable request is one that
-- its caller sent again, any other call one that its bridge had on the way, which it gives up after so long.
local sentAgainFor, onTheWayFor = 60000, 10000
local anotherSince

-- Since when it is another one, as far as anybody has looked: registrations, renewals, polls that bring nothing, what lets
-- durable requests into the queue and what takes calls out of it do. Nil where it does not say which one it is.
function store.lookAtHistory()
  if anotherSince then return anotherSince end
  local told = redis.pcall('INFO', 'replication')
  local name = type(told) == 'string' and string.match(told, 'master_replid:(%x+)')
  if not name then return nil end
  local known, since = string.match(redis.call('HGET', workerKey, 'history') or '', '^(%x+)|(%d*)$')
  if known ~= name then
    since = known and math.max(store.clockNow(), worker.now) or ''
    redis.call('HSET', workerKey, 'history', name .. '|' .. since)
  end
  anotherSince = since
  return since
end

-- Whether a call that is in the queue may have run all the same. A Redis that does not say its name may be another one
-- at any time; of a synchronous call its bridge knows better then, as it has listened from before that came.
function store.mayHaveRun(call)
  local since = store.lookAtHistory()
  if not since then return call.replica == durable end
  local cameBefore = call.replica == durable and sentAgainFor or onTheWayFor
  return since ~= '' and tonumber(call.submitted) < since + cameBefore
end
