--- @include "waiting"
-- The moves of the state table. Each takes a call out of where it is and puts it where it goes; none decides
-- whether that is right. What they touch is looked at again before anything starts.
local touched = {}

local function touch(sequence, line)
  touched[#touched + 1] = { sequence, line }
end

local function reconsider()
  while #touched > 0 do
    local look = table.remove(touched)
    if look[1] then departed(look[1]) end
    if look[2] then evaluate(look[2]) end
  end
end

local function leave(call)
  if call.state == 'waiting' then
    takeFrom('withheld', call.id)
    if call.pool == 'n' then
      takeFrom('loose', call.id)
      redis.call('ZREM', indexKey, ownedBy(call))
    else removeWaiting(call) end
  elseif call.state == 'reserved' or leaseOf(call) then vacate(call.id) end
end

-- A bridge that stopped saying that it lives, as it had nothing in the queue, has a while to begin again.
local function expectReplica(replica)
  if replica == '' then return end
  local member = 'a|' .. replica
  if not dueAt[member] and not redis.call('ZSCORE', dueKey, member) then setDue(member, worker.now + replicaSilent) end
end

local function toWaiting(call, withheld)
  leave(call)
  expectReplica(call.replica)
  if withheld then addTo('withheld', call.id) end
  if call.pool == 'n' then
    addTo('loose', call.id)
    addMembers({ ownedBy(call) })
  else
    insertWaiting(call)
    touch(call.sequence, lineOf(call))
  end
  enter(call, 'waiting', call.submitted)
end

local function reserve(call)
  put('starts', worker.starts + 1)
  occupy(call, 'r', worker.starts)
  setDue(call.id, worker.now + fetchWithin)
  somethingToFetch = true
  enter(call, 'reserved', worker.now)
end

local function toReserved(call)
  leave(call)
  if call.pool ~= 'n' then touch(nil, lineOf(call)) end
  reserve(call)
end

-- `ending` is what is remembered: how|why or cancelled|token|payload.
local function toEnded(call, state, ending)
  local waited = call.state == 'waiting'
  leave(call)
  if call.pool ~= 'n' then touch(call.sequence, waited and lineOf(call) or nil) end
  setField('calls', call.id .. ':e', ending)
  dropField('calls', call.id .. ':b')
  endedAt[call.id] = worker.now + endRemembered
  enter(call, state, worker.now)
end

local function withdrawCall(call, why)
  toEnded(call, 'withdrawn', 'withdrawn|' .. why .. '||')
end

local function interruptCall(call, reason)
  toEnded(call, 'interrupted', 'interrupted|||' .. reason)
end

-- Ends a lease that has outlived its call.
local function release(hold)
  vacate(hold.id)
  if hold.pool ~= 'n' then touch(hold.sequence, nil) end
end

local function offerWithheld()
  if worker.withheld == '' then return end
  local ids = worker.withheld
  put('withheld', '')
  stirred = true
  for id in string.gmatch(ids, '([^,]+),') do
    local call = readCall(id)
    if call.pool ~= 'n' then
      if call.mode == 's' then addMembers({ lineOf(call) .. call.sequence .. '|' .. id }) end
      touch(nil, lineOf(call))
    end
  end
end
