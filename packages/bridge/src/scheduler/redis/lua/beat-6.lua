--[[
  A bridge says that it lives, for the calls that it has in the queue of this worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] bridge
  Returns { 'OK', due, '1' where it is to go on, '0' where it has nothing in the queue } or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = begin()
if refusal then return refusal end
local waits = worker.known and first('o|' .. ARGV[9] .. '|')
if waits then setDue('a|' .. ARGV[9], worker.now + replicaSilent)
else dropDue('a|' .. ARGV[9]) end
return finish({ 'OK', '', waits and '1' or '0' })
