--[[
  How much runs and waits at a worker.
  KEYS, ARGV[1..8]: see includes/given.lua
  Returns { 'OK', due, '1', for each kind of calls three: the pool that it takes or 'w' where it waits, operation or '',
  number… }, { 'OK', due } where the worker is unknown, or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end

local counts = { c = {}, f = {}, w = {} }
local function count(kind, id)
  local call = store.readCall(id)
  local operation = call and call.operation or ''
  counts[kind][operation] = (counts[kind][operation] or 0) + 1
end
for id, hold in pairs(store.loadHeld()) do
  if hold.pool ~= 'n' then count(hold.pool, id) end
end
for _, member in ipairs(store.within('p|')) do count('w', string.match(member, '([^|]*)$')) end

local reply = { 'OK', '', '1' }
for kind, operations in pairs(counts) do
  for operation, number in pairs(operations) do
    for _, value in ipairs({ kind, operation, tostring(number) }) do reply[#reply + 1] = value end
  end
end
return store.finish(reply)
