--- @include "script"
-- How a call enters the queue. ARGV[9..15] are its id, lane, mode, pool, principal, fingerprint and operation.

-- Whether that by which a call was let in, the SHA-1 of what its worker can do and the record of its pairing, is not so
-- any more; where nothing is named, anything will do.
function store.isOutdated(pairingKey, capabilitiesId, pairing)
  return capabilitiesId and not (redis.sha1hex(redis.call('HGET', workerKey, 'capabilities')) == capabilitiesId
    and (redis.call('GET', pairingKey) or '') == pairing)
end

-- Which bound one more waiting call would break: of the 'queue', or the 'share' of its principal; nil where none.
-- The queue has more entries than calls (kept places), so that a short one needs no exact count.
function store.fullBound(principal, most, mostOfOne)
  if store.countWithin('q|') < math.min(most, mostOfOne) and worker.loose == '' then return nil end
  if store.countWithin('p|') >= most then return 'queue' end
  if store.countWithin('p|' .. principal .. '|') >= mostOfOne then return 'share' end
  return nil
end

function store.newCall(replica, attempt)
  return { id = ARGV[9], since = worker.now, submitted = worker.now, started = '', revision = 0, sequence = '',
    lane = ARGV[10], mode = ARGV[11], pool = ARGV[12], principal = ARGV[13], fingerprint = ARGV[14],
    operation = ARGV[15], replica = replica, attempt = attempt, pause = '', state = 'waiting' }
end

-- Who answers for a call that waits: its bridge, for as long as that lives.
function store.expectOwner(call)
  if call.replica == durable then store.expectReplica(call)
  else store.setDue('a|' .. call.replica, worker.now + replicaSilent) end
end

-- Nothing else could have started before this call came, so either it is the one that starts now, or none is.
function store.enterLane(call)
  local kept = store.takeKeptPlace(call.fingerprint, call.principal)
  call.sequence = kept or store.nextSequence()
  local blocker = store.runningRival(call) or store.waitingRival(call)
  local startsAtOnce = not kept and not blocker and worker.offering and
    not store.lackingFor(call.pool, call.lane, store.tally())
  if startsAtOnce then
    store.reserve(call)
    return
  end
  store.insertWaiting(call, blocker)
  store.expectOwner(call)
  store.enter(call, 'waiting', worker.now)
  if not blocker then store.addReady(call) end
  if kept then store.startWhatCan() end
end

-- Enters a call, and starts it at once where the rule does.
function store.enterQueue(call, body)
  store.forget(4)
  calls[call.id] = call
  store.setField('calls', call.id .. ':b', body)
  if call.pool ~= 'n' then store.enterLane(call)
  elseif worker.offering then store.reserve(call)
  else
    store.expectOwner(call)
    store.enter(call, 'waiting', worker.now)
    store.toWaiting(call, false)
  end
end
