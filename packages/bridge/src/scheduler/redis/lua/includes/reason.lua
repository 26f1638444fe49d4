--- @include "places"
-- What a waiting call waits for, appended to a reply: position, lacking room, then seven values for each
-- blocker: call, lane, running or waiting, age, principal, operation, and of a setup how long it may run.
local blockersShown = 5

function store.tellBlocker(reply, id, lane, state, since, principal, call)
  local operation, bound = call and call.operation or '', call and store.boundOf(call) or ''
  for _, value in ipairs({ id, lane, state, tostring(math.floor(worker.now - since)), principal, operation, bound }) do
    reply[#reply + 1] = value
  end
end

function store.tellRunning(reply, hold)
  local call = store.readCall(hold.id)
  local live = call and not ended[call.state]
  store.tellBlocker(reply, hold.id, hold.lane, 'running', call and call.since or worker.now, hold.principal,
    live and call)
end

function store.tellWaiting(reply, sequence, id)
  if id == '-' then
    for _, member in ipairs(store.within('k|')) do
      local place = store.placeOf(member)
      if place.sequence == sequence then
        local principal = string.match(member, '^k|[^|]*|([^|]*)|')
        store.tellBlocker(reply, place.callId, place.lane, 'waiting', place.since, principal)
      end
    end
    return
  end
  local call = store.readCall(id)
  store.tellBlocker(reply, id, call.lane, 'waiting', call.since, call.principal, call)
end

function store.runningRivals(call)
  local rivals = {}
  for _, hold in pairs(store.loadHeld()) do
    if hold.pool ~= 'n' and store.conflict(hold, call) then rivals[#rivals + 1] = hold end
  end
  table.sort(rivals, function(one, other) return one.sequence < other.sequence end)
  return rivals
end

function store.waitingRivals(call, most)
  local places = {}
  for _, list in ipairs(store.rivalLists(call)) do
    for _, member in ipairs(store.within(list, 'LIMIT', 0, most)) do
      local sequence, id = store.placeIn(member)
      if sequence < call.sequence then places[#places + 1] = { sequence, id } end
    end
  end
  table.sort(places, function(one, other) return one[1] < other[1] end)
  return places
end

function store.tellReason(reply, call)
  if call.pool == 'n' or call.state ~= 'waiting' then
    reply[#reply + 1] = '1'
    reply[#reply + 1] = ''
    return
  end
  local older = redis.call('ZLEXCOUNT', indexKey, '[q|', '(q|' .. call.sequence)
  reply[#reply + 1] = tostring(older + 1)
  reply[#reply + 1] = store.lackingFor(call.pool, call.lane, store.tally()) or ''
  local shown = 0
  for _, hold in ipairs(store.runningRivals(call)) do
    if shown == blockersShown then return end
    store.tellRunning(reply, hold)
    shown = shown + 1
  end
  for _, place in ipairs(store.waitingRivals(call, blockersShown)) do
    if shown == blockersShown then return end
    store.tellWaiting(reply, place[1], place[2])
    shown = shown + 1
  end
end
