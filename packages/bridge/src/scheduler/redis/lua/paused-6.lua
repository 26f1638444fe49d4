--[[
  What a paused call waits for.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call
  Returns { 'OK', due, principal, ms since its pause, what it waits for (JSON) }, { 'OK', due } where it is not paused,
  or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call or call.state ~= 'paused' then return store.finish({ 'OK', '' }) end
local said = string.match(store.callField(call.id .. ':p'), '^%x+|[^|]*|(.*)$')
return store.finish({ 'OK', '', call.principal, tostring(math.floor(worker.now - call.since)), said })
