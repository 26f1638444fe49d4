--[[
  How a call ended, while that is remembered.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call
  Returns { 'OK', due, 'how|why or cancelled|token|payload' or '' } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
local isEnded = call and ended[call.state]
local text = isEnded and store.callField(call.id .. ':e')
return store.finish({ 'OK', '', text or '' })
