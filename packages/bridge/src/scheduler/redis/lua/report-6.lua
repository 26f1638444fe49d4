--[[
  Takes what a worker says of calls it fetched, in that order.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] incarnation   ARGV[10..] three for each: started|busy|denied|interrupted|freed, call, token; or
  closed, '', the lanes that the worker has closed (JSON); or unready, the id of a setup if there is to be one,
  its lane|how long it may run in ms|its body
  Returns { 'OK', due, ids of fenced starts… }, { 'WORKER_NOT_FOUND' }, { 'WORKER_FENCED' } or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
--- @include "setups"
local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end

local reply = { 'OK', '' }

local function started(call, token)
  local hold = store.leaseOf(call)
  -- What is said of a start may come after the pause that followed it.
  if not hold or store.termsOf(hold).token ~= token then return store.wasPausedUnder(call, token) end
  if call.state == 'delivered' then store.toRunning(call) end
  return true
end

local function busy(call, token)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).token ~= token then return end
  if call.pause ~= '' then store.refuseResumed(call)
  elseif call.state == 'delivered' then store.toWaiting(call, true)
  elseif call.state == 'cancelling' then store.withdrawCall(call, 'cancelled') end
end

-- Only of an unresolved call, and only once: the report carries no token, and a repeated one must not take a
-- later delivery away from a worker that may be about to start it.
local function denied(call)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).unresolved ~= '1' then return end
  if call.pause ~= '' then
    store.interruptCall(call, 'the worker was started anew while the script waited for its tools')
  elseif call.state == 'cancelling' then store.withdrawCall(call, 'cancelled')
  elseif not store.callField(call.id .. ':b') then store.withdrawCall(call, 'caller_gone')
  else store.toWaiting(call, false) end
end

local function interrupted(id, call)
  if call and store.isOutOfHands(call) then
    store.interruptCall(call, 'the worker ended the script while it waited for its tools')
    return
  end
  local hold = store.holdOf(id)
  if not call or not hold or hold.phase ~= 'l' then return end
  if store.leaseOf(call) then store.interruptCall(call, 'the worker was stopped while this call was in its hands')
  else store.release(hold) end
end

for at = 10, #ARGV, 3 do
  local said, id, token = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local call = id ~= '' and store.readCall(id) or nil
  -- These free nothing: two calls that are both refused would else be offered in turns without end.
  if said ~= 'busy' and said ~= 'unready' then store.offerWithheld() end
  if said == 'started' and not started(call, token) then reply[#reply + 1] = id
  elseif said == 'busy' then busy(call, token)
  elseif said == 'denied' then denied(call)
  elseif said == 'interrupted' then interrupted(id, call)
  elseif said == 'unready' then
    local lane, boundMs, body = string.match(token, '^([^|]*)|(%d+)|(.*)$')
    store.announce(id, lane, boundMs, body)
  elseif said == 'closed' then store.keepQuarantined(token) end
end
store.startWhatCan()
return store.finish(reply)
