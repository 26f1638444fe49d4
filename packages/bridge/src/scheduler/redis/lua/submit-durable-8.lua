--[[
  Takes in a durable request, once. Repeated with the same work it tells how it stands; a worker that is offline
  keeps it waiting.
  KEYS[1..6], ARGV[1..8]: see includes/given.lua   KEYS[7]: see includes/requests.lua
  KEYS[8] the record of the worker's pairing
  ARGV[9..15]: see includes/entering.lua   ARGV[16] queue wait in ms   ARGV[17] queue length
  ARGV[18] share of one principal   ARGV[19] body, given back by fetch   ARGV[20] request
  ARGV[21] fingerprint of the work   ARGV[22] requests kept for one principal
  ARGV[23] how long a request may take in all and is kept after that, in ms
  ARGV[24], ARGV[25] by what the request was let in: see includes/entering.lua; may be left out
  Returns { 'OK', due, … } (see includes/requests.lua), { 'REQUEST_CONFLICT' }, { 'CALL_ID_TAKEN' },
  { 'WORKER_OFFLINE' }, { 'WORKER_QUEUE_FULL', due, bound }, { 'OUTDATED' } or { 'LAYOUT', '', layout }.
]]
--- @include "requests"
local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'WORKER_OFFLINE', '' } end

local id, requestId = ARGV[9], ARGV[20]
local request = store.readRequest(requestId)
if request and request.fingerprint ~= ARGV[21] then return store.finish({ 'REQUEST_CONFLICT', '' }) end
if not request then
  if store.readCall(id) then return store.finish({ 'CALL_ID_TAKEN', '' }) end
  if store.isOutdated(KEYS[8], ARGV[24], ARGV[25]) then return store.finish({ 'OUTDATED', '' }) end
  store.lookAtHistory()
  local bound = store.fullBound(ARGV[13], tonumber(ARGV[17]), tonumber(ARGV[18]))
  if not bound and not store.makeRoomForRequest(tonumber(ARGV[22])) then bound = 'requests' end
  if bound then return store.finish({ 'WORKER_QUEUE_FULL', '', bound }) end
  local queueWait, lifeMs = ARGV[16], tonumber(ARGV[23])
  request = { id = requestId, fingerprint = ARGV[21], queueWait = queueWait,
    call = store.newCall(durable, worker.now + tonumber(queueWait)) }
  redis.call('HSET', requestsKey, requestId, id .. '|' .. ARGV[21] .. '|' .. queueWait)
  -- A request with a short life does not shorten that of those before it.
  if redis.call('PTTL', requestsKey) < lifeMs then redis.call('PEXPIRE', requestsKey, lifeMs) end
  -- An idle worker is not forgotten before the last of its durable requests is.
  local keepUntil = tonumber(redis.call('HGET', workerKey, 'keepUntil') or 0)
  redis.call('HSET', workerKey, 'keepUntil', math.max(keepUntil, worker.now + lifeMs))
  worker.kept = 0
  store.enterQueue(request.call, ARGV[19])
end
local reply = { 'OK', '' }
store.tellRequest(reply, request)
return store.finish(reply)
