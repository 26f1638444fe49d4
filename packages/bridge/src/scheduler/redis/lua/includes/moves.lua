--- @include "waiting"
-- The moves of the state table. Each takes a call out of where it is and puts it where it goes; none decides
-- whether that is right. What they touch is looked at again before anything starts.
local touched = {}

function store.touch(sequence, line)
  touched[#touched + 1] = { sequence, line }
end

function store.reconsider()
  while #touched > 0 do
    local look = table.remove(touched)
    if look[1] then store.departed(look[1]) end
    if look[2] then store.evaluate(look[2]) end
  end
end

function store.leave(call)
  if call.state == 'waiting' then
    store.takeFrom('withheld', call.id)
    if call.pool == 'n' then
      store.takeFrom('loose', call.id)
      redis.call('ZREM', indexKey, store.ownedBy(call), store.sharedBy(call))
    else store.removeWaiting(call) end
  elseif call.state == 'reserved' or store.leaseOf(call) then store.vacate(call.id) end
end

-- A bridge that stopped saying that it lives, as it had nothing in the queue, has a while to begin again. A durable
-- request leaves the queue at its deadline instead, whoever lives.
function store.expectReplica(call)
  local replica = call.replica
  if replica == '' then return end
  if replica == durable then
    store.setDue('d|' .. call.id, tonumber(call.attempt))
    return
  end
  local member = 'a|' .. replica
  if not dueAt[member] and not redis.call('ZSCORE', dueKey, member) then store.setDue(member, worker.now + replicaSilent) end
end

function store.toWaiting(call, withheld)
  store.leave(call)
  store.expectReplica(call)
  if withheld then store.addTo('withheld', call.id) end
  if call.pool == 'n' then
    store.addTo('loose', call.id)
    store.addMembers({ store.ownedBy(call), store.sharedBy(call) })
  else
    store.insertWaiting(call)
    store.touch(call.sequence, store.lineOf(call))
  end
  store.enter(call, 'waiting', call.submitted)
end

function store.reserve(call)
  worker.starts = worker.starts + 1
  store.occupy(call, 'r', worker.starts)
  store.setDue(call.id, worker.now + fetchWithin)
  somethingToFetch = true
  call.started = worker.now
  store.enter(call, 'reserved', worker.now)
end

function store.toReserved(call)
  store.leave(call)
  if call.pool ~= 'n' then store.touch(nil, store.lineOf(call)) end
  store.reserve(call)
end

-- `ending` is what is remembered: how|why or cancelled|token|payload.
function store.toEnded(call, state, ending)
  local waited = call.state == 'waiting'
  store.leave(call)
  if call.pool ~= 'n' then store.touch(call.sequence, waited and store.lineOf(call) or nil) end
  store.setField('calls', call.id .. ':e', ending)
  -- A durable request is shown for as long as it is kept.
  if call.replica == durable then store.dropDue('d|' .. call.id)
  else store.dropField('calls', call.id .. ':b') end
  endedAt[call.id] = worker.now + store.endKept(call)
  store.enter(call, state, worker.now)
end

function store.withdrawCall(call, why)
  store.toEnded(call, 'withdrawn', 'withdrawn|' .. why .. '||')
end

function store.interruptCall(call, reason)
  store.toEnded(call, 'interrupted', 'interrupted|||' .. reason)
end

-- Asks for an end: what was not delivered never ran, the rest its worker is to stop.
function store.cancelCall(call)
  if call.state == 'waiting' or call.state == 'reserved' then store.withdrawCall(call, 'cancelled')
  elseif call.state == 'delivered' or call.state == 'running' then
    local hold = store.leaseOf(call)
    store.termsOf(hold).stop = '1'
    store.saveHold(hold)
    somethingToFetch = true
    store.enter(call, 'cancelling', call.since)
  end
end

-- Ends a lease that has outlived its call.
function store.release(hold)
  store.vacate(hold.id)
  if hold.pool ~= 'n' then store.touch(hold.sequence, nil) end
end

function store.offerWithheld()
  if worker.withheld == '' then return end
  local ids = worker.withheld
  worker.withheld = ''
  stirred = true
  for id in string.gmatch(ids, '([^,]+),') do
    local call = store.readCall(id)
    if call.pool ~= 'n' then
      if call.mode == 's' then store.addMembers({ store.lineOf(call) .. call.sequence .. '|' .. id }) end
      store.touch(nil, store.lineOf(call))
    end
  end
end
