--[[
  One call as its caller may see it.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call
  Returns { 'OK', due, principal, state, lane, since ms, revision } and of a waiting call its reason (see
  includes/reason.lua), { 'OK', due } where it is unknown, or { 'LAYOUT', '', layout }.
]]
--- @include "script"
--- @include "reason"
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '' }) end
local reply = { 'OK', '', call.principal, call.state, call.lane, tostring(math.floor(worker.now - call.since)),
  tostring(call.revision) }
if call.state == 'waiting' then store.tellReason(reply, call) end
return store.finish(reply)
