--- @include "calls"
--[[
  What Redis holds has a name, its replication id. It is another one whenever a process was started, or took over from
  the one that it had copied, and either may have come without the last seconds. `history` of the worker is the name
  that was seen last, and since when it is another one than before; '' where there was none before.
]]
-- For so long after that, a durable request may be one that Redis had forgotten and that was sent again.
local sentAgainFor = 60000
local anotherSince

-- Since when it is another one, as far as anybody has looked: registrations, renewals, and what lets durable requests
-- into the queue and out of it do.
function store.lookAtHistory()
  if anotherSince then return anotherSince end
  local told = redis.pcall('INFO', 'replication')
  local name = type(told) == 'string' and string.match(told, 'master_replid:(%x+)')
  -- One that does not say its name may be another one at any time.
  if not name then return store.clockNow() end
  local known, since = string.match(redis.call('HGET', workerKey, 'history') or '', '^(%x+)|(%d*)$')
  if known ~= name then
    since = known and math.max(store.clockNow(), worker.now) or ''
    redis.call('HSET', workerKey, 'history', name .. '|' .. since)
  end
  anotherSince = since
  return since
end

-- Whether a durable request that is in the queue may have run all the same.
function store.mayHaveRun(call)
  local since = store.lookAtHistory()
  return since ~= '' and tonumber(call.submitted) < since + sentAgainFor
end
