--[[
  Asks for the end of a call: one that was not delivered is withdrawn, one that was is to be stopped by its worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call
  Returns { 'OK', due, state or '' } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end

local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '', '' }) end
store.cancelCall(call)
store.startWhatCan()
return store.finish({ 'OK', '', call.state })
