--[[
  How a durable request stands; looking changes nothing.
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
if request then store.tellRequest(reply, request) end
return store.finish(reply)
