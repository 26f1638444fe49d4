--- @include "waiting"
--- @include "history"
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

-- A bridge that stopped saying that it lives, as it had nothing in the queue, has a while to begin again: counted from
-- when the call was reserved, as a dead one has been silent since, but never too short for a living one to be heard.
-- A durable request leaves the queue at its deadline instead, whoever lives.
function store.expectReplica(call)
  local replica = call.replica
  if replica == '' then return end
  if replica == durable then
    store.setDue('d|' .. call.id, tonumber(call.attempt))
    return
  end
  local member = 'a|' .. replica
  if dueAt[member] or redis.call('ZSCORE', dueKey, member) then return end
  local silentSince = call.state == 'reserved' and tonumber(call.since) or worker.now
  store.setDue(member, math.max(silentSince + replicaSilent, worker.now + replicaSilent / 2))
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
  store.enter(call, 'waiting', call.pause == '' and call.submitted or store.pauseOf(call).queued)
end

-- A call starts, or goes on after a pause.
function store.noteStart(call)
  local pause = store.pauseOf(call)
  if pause then
    pause.away = pause.before + worker.now - pause.at
    store.notePause(call, pause)
  else call.started = worker.now end
end

function store.reserve(call)
  worker.starts = worker.starts + 1
  store.occupy(call, 'r', worker.starts)
  store.setDue(call.id, worker.now + fetchWithin)
  somethingToFetch = true
  store.noteStart(call)
  store.enter(call, 'reserved', worker.now)
end

function store.toRunning(call)
  store.endPause(call)
  store.enter(call, 'running', worker.now)
end

function store.toReserved(call)
  store.leave(call)
  if call.pool ~= 'n' then store.touch(nil, store.lineOf(call)) end
  store.reserve(call)
end

-- A call took a place ahead of others: those of them that conflict with it cannot start any more before it.
function store.holdBackRivals(entry)
  for _, member in ipairs(store.within('r|')) do
    local sequence, id = store.placeIn(member)
    local other = sequence > entry.sequence and store.readCall(id)
    if other and store.conflict(other, entry) and not (other.mode == 's' and store.hasSetup(entry.lane)) then
      store.removeReady(other)
      store.addMembers({ 'b|' .. entry.sequence .. '|' .. store.lineOf(other) })
    end
  end
end

-- A setup of that lane waits or runs from here on: what waits for it holds no shared call back.
function store.setupBegan(lane)
  worker.unready = (worker.unready == '' and ' ' or worker.unready) .. lane .. ' '
  for _, member in ipairs(store.within('X|' .. lane .. '|')) do
    local sequence, id = store.placeIn(member)
    redis.call('ZREM', indexKey, unpack(store.holdingMembers(lane, sequence .. '|' .. id)))
    store.touch(sequence, nil)
  end
end

-- No setup of that lane waits or runs any more: all is as it is of other lanes.
function store.setupEnded(lane)
  local from, to = string.find(worker.unready, ' ' .. lane .. ' ', 1, true)
  if not from then return end
  worker.unready = string.sub(worker.unready, 1, from) .. string.sub(worker.unready, to + 1)
  if worker.unready == ' ' then worker.unready = '' end
  for _, member in ipairs(store.within('X|' .. lane .. '|')) do
    local sequence, id = store.placeIn(member)
    store.addMembers(store.holdingMembers(lane, sequence .. '|' .. id))
    store.holdBackRivals({ sequence = sequence, lane = lane, mode = 'x' })
  end
end

-- `ending` is what is remembered: how|why or cancelled|token|payload.
function store.toEnded(call, state, ending)
  local waited = call.state == 'waiting'
  store.leave(call)
  if call.principal == system then store.setupEnded(call.lane) end
  if call.pool ~= 'n' then store.touch(call.sequence, waited and store.lineOf(call) or nil) end
  if call.pause ~= '' then
    store.endPause(call)
    store.dropField('calls', call.id .. ':p')
  end
  store.setField('calls', call.id .. ':e', ending)
  -- A durable request is shown for as long as it is kept.
  if call.replica == durable then store.dropDue('d|' .. call.id)
  else store.dropField('calls', call.id .. ':b') end
  endedAt[call.id] = worker.now + store.endKept(call)
  if call.replica ~= '' and call.replica ~= durable and #ending <= longestTold then
    endings[#endings + 1] = { call.replica, call.id .. ' ' .. ending }
  end
  store.enter(call, state, worker.now)
end

function store.withdrawCall(call, why, waited)
  store.toEnded(call, 'withdrawn', 'withdrawn|' .. why .. '||' .. (waited or ''))
  if why == 'deadline' then store.noteLoss('queue_timeout', call) end
end

function store.interruptCall(call, reason)
  store.toEnded(call, 'interrupted', 'interrupted|||' .. reason)
  store.noteLoss('interrupted', call)
end

-- A call leaves the queue by its deadline, on request, or because nobody waits for it: it never ran, as far as Redis
-- can know.
function store.leaveQueue(call, why, waited)
  if store.mayHaveRun(call) then
    store.interruptCall(call, 'Redis may have come back without its last seconds, in which this call may have run')
  else store.withdrawCall(call, why, waited) end
end

-- Asks for an end: what was not delivered leaves the queue, the rest its worker is to stop.
function store.cancelCall(call)
  if store.isOutOfHands(call) then store.stopPaused(call)
  elseif call.state == 'waiting' or call.state == 'reserved' then store.leaveQueue(call, 'cancelled')
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
  if hold.principal == system then store.setupEnded(hold.lane) end
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
