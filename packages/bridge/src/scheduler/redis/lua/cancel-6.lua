--[[
  Asks for the end of a call: one that was not delivered is withdrawn, one that was is to be stopped by its worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call
  Returns { 'OK', due, state or '' } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = begin()
if refusal then return refusal end

local call = readCall(ARGV[9])
if not call then return finish({ 'OK', '', '' }) end
if call.state == 'waiting' or call.state == 'reserved' then
  withdrawCall(call, 'cancelled')
  startWhatCan()
elseif call.state == 'delivered' or call.state == 'running' then
  local hold = leaseOf(call)
  hold.stop = 1
  saveHold(hold)
  somethingToFetch = true
  enter(call, 'cancelling', call.since)
end
return finish({ 'OK', '', call.state })
