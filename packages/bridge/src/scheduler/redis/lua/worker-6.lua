--[[
  What is known of a worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  Returns { 'OK', due, ms until its lease ends, capabilities (JSON) }, { 'OK', due } where it never registered, or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
return store.finish({ 'OK', '', tostring(store.leaseLeft()), redis.call('HGET', workerKey, 'capabilities') })
