--- @include "reason"
--- @include "entering"
--[[
  Durable requests of one principal: KEYS[7] is a hash of `call|fingerprint of the work|queue wait in ms`, by the id
  that the principal gave each. How a request stands is how its call stands; one whose call is forgotten is too.
]]
local requestsKey = KEYS[7]

function store.readRequest(id)
  local text = redis.call('HGET', requestsKey, id)
  if not text then return nil end
  local callId, fingerprint, queueWait = string.match(text, '^(%x+)|(%x+)|(%d+)$')
  local call = store.readCall(callId)
  return call and { id = id, call = call, fingerprint = fingerprint, queueWait = queueWait }
end

-- Appends call, queue wait, body, state, and how it ended or, while it waits, since how many ms and its reason (see
-- reason.lua).
function store.tellRequest(reply, request)
  local call = request.call
  local body = store.callField(call.id .. ':b') or ''
  for _, value in ipairs({ call.id, request.queueWait, body, call.state }) do reply[#reply + 1] = value end
  if call.state == 'waiting' then
    reply[#reply + 1] = tostring(math.floor(worker.now - call.since))
    store.tellReason(reply, call)
  elseif ended[call.state] then
    reply[#reply + 1] = store.callField(call.id .. ':e')
  end
end

-- Forgets a request at once, with the call that it stood for.
function store.forgetRequest(id, call)
  redis.call('HDEL', requestsKey, id)
  if not call then return end
  for _, field in ipairs({ call.id, call.id .. ':e', call.id .. ':b' }) do store.dropField('calls', field) end
  redis.call('ZREM', endedKey, call.id)
  calls[call.id] = nil
end

-- Makes room where as many are kept as may be: all that are forgotten anyway go, else a tenth of the ended ones,
-- from the oldest on. Whether there is room then.
function store.makeRoomForRequest(most)
  if redis.call('HLEN', requestsKey) < most then return true end
  local over, room = {}, false
  for _, id in ipairs(redis.call('HKEYS', requestsKey)) do
    local request = store.readRequest(id)
    if not request then
      store.forgetRequest(id)
      room = true
    elseif ended[request.call.state] then over[#over + 1] = request end
  end
  if room then return true end
  table.sort(over, function(one, other) return tonumber(one.call.since) < tonumber(other.call.since) end)
  for at = 1, math.min(#over, math.ceil(most / 10)) do store.forgetRequest(over[at].id, over[at].call) end
  return #over > 0
end
