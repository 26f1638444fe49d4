--[[
  Enters a call as waiting, and starts it at once where the rule does. The place that an identical call left
  behind goes to it. A repeated attempt of the same submission is answered as the first one was.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call   ARGV[10] lane   ARGV[11] mode x|s   ARGV[12] pool c|f|n   ARGV[13] principal
  ARGV[14] fingerprint   ARGV[15] operation   ARGV[16] bridge   ARGV[17] attempt   ARGV[18] queue length
  ARGV[19] body, given back by fetch
  Returns { 'OK', due, state }, { 'CALL_ID_TAKEN' }, { 'WORKER_OFFLINE' }, { 'WORKER_QUEUE_FULL' } or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end

local id = ARGV[9]
local present = store.readCall(id)
if present then
  if present.attempt == ARGV[17] then return store.finish({ 'OK', '', present.state }) end
  return store.finish({ 'CALL_ID_TAKEN', '' })
end
if not store.isOnline() then return store.finish({ 'WORKER_OFFLINE', '' }) end

local function isFull(most)
  local queued = redis.call('ZLEXCOUNT', indexKey, '[q|', '(q|\255')
  if queued < most and worker.loose == '' then return false end
  local _, loose = string.gsub(worker.loose, ',', ',')
  return queued - redis.call('ZLEXCOUNT', indexKey, '[k|', '(k|\255') + loose >= most
end
if isFull(tonumber(ARGV[18])) then return store.finish({ 'WORKER_QUEUE_FULL', '' }) end

store.forget(4)
local call = { id = id, since = worker.now, submitted = worker.now, revision = 0, sequence = '', lane = ARGV[10],
  mode = ARGV[11], pool = ARGV[12], principal = ARGV[13], fingerprint = ARGV[14], operation = ARGV[15],
  replica = ARGV[16], attempt = ARGV[17], state = 'waiting' }
calls[id] = call
store.setField('calls', id .. ':b', ARGV[19])

-- Nothing else could have started before this call came, so either it is the one that starts now, or none is.
local function enterLane()
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
  store.setDue('a|' .. call.replica, worker.now + replicaSilent)
  store.enter(call, 'waiting', worker.now)
  if not blocker then store.addReady(call) end
  if kept then store.startWhatCan() end
end

if call.pool ~= 'n' then enterLane()
elseif worker.offering then store.reserve(call)
else
  store.setDue('a|' .. call.replica, worker.now + replicaSilent)
  store.enter(call, 'waiting', worker.now)
  store.toWaiting(call, false)
end
-- Its own caller learns the state from the reply.
news[id] = nil
return store.finish({ 'OK', '', call.state })
