--[[
  Takes a call out of the queue that has not been delivered; it never ran. At a deadline its place is kept. One that
  was paused before, or may have run in seconds that Redis lost, is interrupted instead.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call   ARGV[10] deadline, caller_gone or cancelled
  ARGV[11] '1' where its bridge knows that it never ran, as it has taken it out before; may be left out
  Returns { 'OK', due, '1', waited ms, principal, position, lacking, blockers… } (see includes/reason.lua),
  { 'OK', due, '0', state or '' } where it was not in the queue, or { 'LAYOUT', '', layout }.
]]
--- @include "script"
--- @include "reason"
local refusal = store.begin()
if refusal then return refusal end

local call = store.readCall(ARGV[9])
if not call or (call.state ~= 'waiting' and call.state ~= 'reserved') then
  return store.finish({ 'OK', '', '0', call and call.state or '' })
end
if call.pause ~= '' then
  store.interruptPaused(call, 'the script left the queue before it could go on with what its tools had come to')
  store.startWhatCan()
  return store.finish({ 'OK', '', '0', call.state })
end
local reply = { 'OK', '', '1', tostring(math.floor(worker.now - call.submitted)), call.principal }
store.tellReason(reply, call)
if ARGV[11] == '1' then store.withdrawCall(call, ARGV[10]) else store.leaveQueue(call, ARGV[10]) end
if call.state == 'interrupted' then
  store.startWhatCan()
  return store.finish({ 'OK', '', '0', call.state })
end
if ARGV[10] == 'deadline' and call.pool ~= 'n' then store.keepPlace(call) end
store.startWhatCan()
return store.finish(reply)
