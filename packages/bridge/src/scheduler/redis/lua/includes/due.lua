--- @include "places"
--- @include "start"
-- A reserved call was not fetched in time: back to its place. Nothing is offered until the worker asks for work
-- again, else the same call would be reserved for an absent worker over and over.
local function reservationLapsed(call)
  setOffering(false)
  toWaiting(call, false)
end

-- A lease was not renewed in time: what it ran may or may not have happened, and its lane is free.
local function leaseEnded(hold)
  local call = readCall(hold.id)
  if call and leaseOf(call) then
    interruptCall(call, 'the worker was not heard from until the lease of this call had ended')
  else release(hold) end
end

-- A bridge was silent for too long: nobody waits any more for what it has in the queue.
local function replicaGone(replica)
  for id, hold in pairs(loadHeld()) do
    if hold.phase == 'r' then
      local call = readCall(id)
      if call.replica == replica then withdrawCall(call, 'caller_gone') end
    end
  end
  local prefix = 'o|' .. replica .. '|'
  for _, member in ipairs(within(prefix)) do
    withdrawCall(readCall(string.sub(member, #prefix + 1)), 'caller_gone')
  end
end

local function becomesDue(member)
  local kind = string.sub(member, 1, 2)
  if kind == 'k|' then dropPlace(member)
  elseif kind == 'a|' then
    dropDue(member)
    replicaGone(string.sub(member, 3))
  else
    local hold = loadHeld()[member]
    if not hold then dropDue(member)
    elseif hold.phase == 'r' then reservationLapsed(readCall(member))
    else leaseEnded(hold) end
  end
  startWhatCan()
end

-- Everything happens at its own time and in order, also when nobody looked for a while.
local function expireDue()
  local now = worker.now
  while true do
    local earliest = redis.call('ZRANGE', dueKey, 0, 0, 'WITHSCORES')
    local at = earliest[1] and tonumber(earliest[2])
    if not at or at > now then break end
    worker.now = at
    becomesDue(earliest[1])
    flushDue()
  end
  worker.now = now
end
