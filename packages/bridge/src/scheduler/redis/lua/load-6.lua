--[[
  How much runs and waits at a worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  Returns { 'OK', due, commands, files, waiting }, { 'OK', due } where the worker is unknown, or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
local sum = store.tally()
return store.finish({ 'OK', '', tostring(sum.c), tostring(sum.f), tostring(store.countWithin('p|')) })
