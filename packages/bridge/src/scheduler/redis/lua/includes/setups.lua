--- @include "start"
-- Setups of lanes: calls of the system, which a worker has asked for.

-- The oldest place of an exclusive call of that lane which has not begun, or may come back to the queue; else nil.
function store.firstWaitingFor(lane)
  local member = store.first('X|' .. lane .. '|')
  local first = member and store.placeIn(member)
  for id, hold in pairs(store.loadHeld()) do
    local mayWait = hold.mode == 'x' and hold.lane == lane and
      (hold.phase == 'r' or store.readCall(id) and store.readCall(id).state == 'delivered')
    if mayWait and (not first or hold.sequence < first) then first = hold.sequence end
  end
  return first
end

-- Asks for the setup of a lane, once, ahead of all that waits for it.
function store.announce(id, lane, boundMs, body)
  if store.hasSetup(lane) then return end
  local first = store.firstWaitingFor(lane)
  local call = { id = id, state = 'waiting', since = worker.now, submitted = worker.now, started = '', revision = 0,
    sequence = first and store.justBefore(first) or store.nextSequence(), lane = lane, mode = 's', pool = 'c',
    principal = system, fingerprint = '', operation = 'setup', replica = '', attempt = boundMs, pause = '' }
  store.setField('calls', id .. ':b', body)
  store.setupBegan(lane)
  store.insertWaiting(call)
  store.holdBackRivals(call)
  store.touch(nil, store.lineOf(call))
  store.enter(call, 'waiting', worker.now)
end
