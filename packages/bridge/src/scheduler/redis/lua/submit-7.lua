--[[
  Enters a call as waiting, and starts it at once where the rule does. The place that an identical call left
  behind goes to it. A repeated attempt of the same submission is answered as the first one was.
  KEYS[1..6], ARGV[1..8]: see includes/given.lua   KEYS[7] the record of the worker's pairing
  ARGV[9] call   ARGV[10] lane   ARGV[11] mode x|s   ARGV[12] pool c|f|n   ARGV[13] principal
  ARGV[14] fingerprint   ARGV[15] operation   ARGV[16] bridge   ARGV[17] attempt   ARGV[18] queue length
  ARGV[19] share of a principal   ARGV[20] body, given back by fetch
  ARGV[21], ARGV[22] by what the call was let in: see includes/entering.lua; may be left out
  Returns { 'OK', due, state }, { 'CALL_ID_TAKEN' }, { 'WORKER_OFFLINE' }, { 'WORKER_QUEUE_FULL', due, 'queue' or 'share' },
  { 'OUTDATED' } or
  { 'LAYOUT', '', layout }.
]]
--- @include "entering"
local refusal = store.begin()
if refusal then return refusal end

local id = ARGV[9]
local present = store.readCall(id)
if present then
  if present.attempt == ARGV[17] then return store.finish({ 'OK', '', present.state }) end
  return store.finish({ 'CALL_ID_TAKEN', '' })
end
if not store.isOnline() then return store.finish({ 'WORKER_OFFLINE', '' }) end
if store.isOutdated(KEYS[7], ARGV[21], ARGV[22]) then return store.finish({ 'OUTDATED', '' }) end

local bound = store.fullBound(ARGV[13], tonumber(ARGV[18]), tonumber(ARGV[19]))
if bound then return store.finish({ 'WORKER_QUEUE_FULL', '', bound }) end
local call = store.newCall(ARGV[16], ARGV[17])
store.enterQueue(call, ARGV[20])
-- Its own caller learns the state from the reply.
news[id] = nil
if call.state == 'waiting' and ARGV[12] == 'c' then expected = ARGV[10] end
return store.finish({ 'OK', '', call.state })
