--[[
  How a call stands, for whoever sees it through.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call
  Returns { 'OK', due, state, how it ended (see end-6.lua) or '' }, { 'OK', due } where it is unknown, or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '' }) end
return store.finish({ 'OK', '', call.state, ended[call.state] and store.callField(call.id .. ':e') or '' })
