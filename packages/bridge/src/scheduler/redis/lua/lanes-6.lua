--[[
  Everything of one worker. Reads of instructions take no lane and are not among it.
  KEYS, ARGV[1..8]: see includes/given.lua
  Returns { 'OK', due, lease left ms, commands, slots, files, file pool, closed lanes (JSON), ms since the worker
  told of them, calls… } where a call is: number of
  values that follow, id, state, lane, mode, pool, operation, of a setup how long it may run in ms, principal, since
  ms, and of a waiting call its reason (see includes/reason.lua); { 'OK', due } where the worker is unknown; or { 'LAYOUT', '', layout }.
]]
--- @include "script"
--- @include "reason"
local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end

local sum = store.tally()
local reply = { 'OK', '', tostring(store.leaseLeft()), tostring(sum.c), tostring(worker.slots), tostring(sum.f),
  tostring(worker.files) }
local closed = redis.call('HMGET', workerKey, 'quarantined', 'quarantinedAt')
reply[#reply + 1] = closed[1] or '[]'
reply[#reply + 1] = tostring(math.floor(worker.now - (closed[2] or worker.now)))

local function tell(call)
  local told = { call.id, call.state, call.lane, call.mode, call.pool, call.operation, store.boundOf(call),
    call.principal, tostring(math.floor(worker.now - call.since)) }
  if call.state == 'waiting' then store.tellReason(told, call) end
  reply[#reply + 1] = tostring(#told)
  for _, value in ipairs(told) do reply[#reply + 1] = value end
end

local running = {}
for id, hold in pairs(store.loadHeld()) do
  local call = hold.pool ~= 'n' and store.readCall(id)
  if call and (hold.phase == 'r' or store.leaseOf(call)) then running[#running + 1] = { tonumber(hold.order), call } end
end
table.sort(running, function(one, other) return one[1] < other[1] end)
for _, entry in ipairs(running) do tell(entry[2]) end
for _, member in ipairs(store.within('q|')) do
  local _, id = store.placeIn(member)
  if id ~= '-' then tell(store.readCall(id)) end
end
for id in string.gmatch(worker.scripts, '([^,]+),') do
  local call = store.readCall(id)
  if call.state == 'paused' then tell(call) end
end
return store.finish(reply)
