--- @include "reason"
--- @include "pauses"
--- @include "start"
-- A reserved call was not fetched in time: back to its place. Nothing is offered until the worker asks for work
-- again, else the same call would be reserved for an absent worker over and over.
function store.reservationLapsed(call)
  worker.offering = false
  store.toWaiting(call, false)
end

-- A lease was not renewed in time: what it ran may or may not have happened, and its lane is free.
function store.leaseEnded(hold)
  local call = store.readCall(hold.id)
  if call and store.leaseOf(call) then
    store.interruptCall(call, 'the worker was not heard from until the lease of this call had ended')
  else store.release(hold) end
end

-- A bridge was silent for too long: nobody waits any more for what it has in the queue.
function store.replicaGone(replica)
  for id, hold in pairs(store.loadHeld()) do
    if hold.phase == 'r' then
      local call = store.readCall(id)
      if call.replica == replica then store.leaveQueue(call, 'caller_gone') end
    end
  end
  local prefix = 'o|' .. replica .. '|'
  for _, member in ipairs(store.within(prefix)) do
    store.leaveQueue(store.readCall(string.sub(member, #prefix + 1)), 'caller_gone')
  end
end

-- A durable request waited for as long as it may; what it waited for is kept with how it ended.
function store.deadlinePassed(member)
  store.dropDue(member)
  local call = store.readCall(string.sub(member, 3))
  if call and (call.state == 'waiting' or call.state == 'reserved') then
    local waited = { tostring(math.floor(worker.now - call.submitted)) }
    store.tellReason(waited, call)
    store.leaveQueue(call, 'deadline', cjson.encode(waited))
  end
end

function store.becomesDue(member)
  local kind = string.sub(member, 1, 2)
  if kind == 'k|' then store.dropPlace(member)
  elseif kind == 'a|' then
    store.dropDue(member)
    store.replicaGone(string.sub(member, 3))
  elseif kind == 'd|' then store.deadlinePassed(member)
  elseif kind == 'f|' then store.pauseEnded(member)
  elseif kind == 's|' then store.stopForgotten(member)
  else
    local hold = store.holdOf(member)
    if not hold then store.dropDue(member)
    elseif hold.phase == 'r' then store.reservationLapsed(store.readCall(member))
    else store.leaseEnded(hold) end
  end
  store.startWhatCan()
end

-- What the due times of Redis began with, when this script last looked.
local earliestMember, earliestAt

function store.lookForDue()
  local earliest = redis.call('ZRANGE', dueKey, 0, 0, 'WITHSCORES')
  earliestMember, earliestAt = earliest[1], tonumber(earliest[2] or math.huge)
end

-- When something is due next, for which Redis is asked again only where what was first is no more.
function store.nextDueAt()
  local at = earliestAt
  if not earliestMember or dueGone[earliestMember] or dueAt[earliestMember] then at = nil end
  for _, set in pairs(dueAt) do at = at and math.min(at, set) end
  store.flushDue()
  if at then return at end
  store.lookForDue()
  return earliestAt
end

-- Everything happens at its own time and in order, also when nobody looked for a while.
function store.expireDue()
  local now = worker.now
  store.lookForDue()
  while earliestAt <= now do
    worker.now = earliestAt
    store.becomesDue(earliestMember)
    store.flushDue()
    store.lookForDue()
  end
  worker.now = now
end
