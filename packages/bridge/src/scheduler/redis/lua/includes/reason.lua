--- @include "places"
-- What a waiting call waits for, appended to a reply: position, lacking room, then six values for each
-- blocker: call, lane, running or waiting, age, principal, operation.
local blockersShown = 5

local function tellBlocker(reply, id, lane, state, since, principal, operation)
  for _, value in ipairs({ id, lane, state, tostring(math.floor(worker.now - since)), principal, operation }) do
    reply[#reply + 1] = value
  end
end

local function tellRunning(reply, hold)
  local call = readCall(hold.id)
  local live = call and not ended[call.state]
  tellBlocker(reply, hold.id, hold.lane, 'running', call and call.since or worker.now, hold.principal,
    live and call.operation or '')
end

local function tellWaiting(reply, sequence, id)
  if id == '-' then
    for _, member in ipairs(within('k|')) do
      local place = placeOf(member)
      if place.sequence == sequence then
        local principal = string.match(member, '^k|[^|]*|([^|]*)|')
        tellBlocker(reply, place.callId, place.lane, 'waiting', place.since, principal, '')
      end
    end
    return
  end
  local call = readCall(id)
  tellBlocker(reply, id, call.lane, 'waiting', call.since, call.principal, call.operation)
end

local function runningRivals(call)
  local rivals = {}
  for _, hold in pairs(loadHeld()) do
    if hold.pool ~= 'n' and conflict(hold, call) then rivals[#rivals + 1] = hold end
  end
  table.sort(rivals, function(one, other) return one.sequence < other.sequence end)
  return rivals
end

local function waitingRivals(call, most)
  local here, beneath = 'X|', 'x|'
  if call.mode == 'x' then here, beneath = 'A|', 'a|' end
  local places, nodes = {}, nodesTo(call.lane)
  for depth, node in ipairs(nodes) do
    for _, member in ipairs(within((depth < #nodes and here or beneath) .. node .. '|', 'LIMIT', 0, most)) do
      local sequence, id = placeIn(member)
      if sequence < call.sequence then places[#places + 1] = { sequence, id } end
    end
  end
  table.sort(places, function(one, other) return one[1] < other[1] end)
  return places
end

local function tellReason(reply, call)
  if call.pool == 'n' or call.state ~= 'waiting' then
    reply[#reply + 1] = '1'
    reply[#reply + 1] = ''
    return
  end
  local older = redis.call('ZLEXCOUNT', indexKey, '[q|', '(q|' .. call.sequence)
  reply[#reply + 1] = tostring(older + 1)
  reply[#reply + 1] = lackingFor(call.pool, call.lane, tally()) or ''
  local shown = 0
  for _, hold in ipairs(runningRivals(call)) do
    if shown == blockersShown then return end
    tellRunning(reply, hold)
    shown = shown + 1
  end
  for _, place in ipairs(waitingRivals(call, blockersShown)) do
    if shown == blockersShown then return end
    tellWaiting(reply, place[1], place[2])
    shown = shown + 1
  end
end
