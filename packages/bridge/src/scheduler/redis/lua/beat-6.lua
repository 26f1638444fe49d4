--[[
  A bridge says that it lives, for the calls that it has in the queue of this worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] bridge
  Returns { 'OK', due, '1' where it is to go on, '0' where it has nothing in the queue } or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local waits = worker.known and store.first('o|' .. ARGV[9] .. '|')
if waits then store.setDue('a|' .. ARGV[9], worker.now + replicaSilent)
else store.dropDue('a|' .. ARGV[9]) end
return store.finish({ 'OK', '', waits and '1' or '0' })
