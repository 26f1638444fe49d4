--- @include "places"
--- @include "start"
-- A reserved call was not fetched in time: back to its place. Nothing is offered until the worker asks for work
-- again, else the same call would be reserved for an absent worker over and over.
function store.reservationLapsed(call)
  store.setOffering(false)
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
      if call.replica == replica then store.withdrawCall(call, 'caller_gone') end
    end
  end
  local prefix = 'o|' .. replica .. '|'
  for _, member in ipairs(store.within(prefix)) do
    store.withdrawCall(store.readCall(string.sub(member, #prefix + 1)), 'caller_gone')
  end
end

function store.becomesDue(member)
  local kind = string.sub(member, 1, 2)
  if kind == 'k|' then store.dropPlace(member)
  elseif kind == 'a|' then
    store.dropDue(member)
    store.replicaGone(string.sub(member, 3))
  else
    local hold = store.loadHeld()[member]
    if not hold then store.dropDue(member)
    elseif hold.phase == 'r' then store.reservationLapsed(store.readCall(member))
    else store.leaseEnded(hold) end
  end
  store.startWhatCan()
end

-- Everything happens at its own time and in order, also when nobody looked for a while.
function store.expireDue()
  local now = worker.now
  while true do
    local earliest = redis.call('ZRANGE', dueKey, 0, 0, 'WITHSCORES')
    local at = earliest[1] and tonumber(earliest[2])
    if not at or at > now then break end
    worker.now = at
    store.becomesDue(earliest[1])
    store.flushDue()
  end
  worker.now = now
end
