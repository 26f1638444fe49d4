--[[
  Renews the leases that are still this worker's; the token decides.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] incarnation   ARGV[10..] two for each: call, token
  Returns { 'OK', due, number of lost, lost ids…, ids to be stopped… }, { 'WORKER_NOT_FOUND' },
  { 'WORKER_FENCED' } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end

local reply, lost = { 'OK', '', '' }, 0
for at = 10, #ARGV, 2 do
  local hold = store.loadHeld()[ARGV[at]]
  if hold and hold.phase == 'l' and store.termsOf(hold).token == ARGV[at + 1] then store.setDue(hold.id, worker.now + leaseTtl)
  else
    lost = lost + 1
    reply[#reply + 1] = ARGV[at]
  end
end
reply[3] = tostring(lost)
for id, hold in pairs(store.loadHeld()) do
  if hold.phase == 'l' and store.termsOf(hold).stop == '1' then reply[#reply + 1] = id end
end
for id in string.gmatch(worker.stops, '([^,]+),') do reply[#reply + 1] = id end
store.lookAtHistory()
return store.finish(reply)
