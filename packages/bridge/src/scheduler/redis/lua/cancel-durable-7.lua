--[[
  Asks for the end of a durable request, as cancel-6.lua does of a call, and tells how it stands then.
  KEYS[1..6], ARGV[1..8]: see includes/given.lua   KEYS[7]: see includes/requests.lua
  ARGV[9] request
  Returns { 'OK', due, … } (see includes/requests.lua), { 'OK', due } where it is unknown, or
  { 'LAYOUT', '', layout }.
]]
--- @include "requests"
local refusal = store.begin()
if refusal then return refusal end
local reply = { 'OK', '' }
local request = worker.known and store.readRequest(ARGV[9])
if request then
  store.cancelCall(request.call)
  store.startWhatCan()
  store.tellRequest(reply, request)
end
return store.finish(reply)
