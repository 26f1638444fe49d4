--[[
  Ends a call with its worker's word; the token decides, whichever incarnation brings it. Repeating the same
  settlement is accepted again and changes nothing.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] incarnation   ARGV[10] call   ARGV[11] token   ARGV[12] settlement (JSON)
  Returns { 'OK', due, '1' accepted or '0' } and of a call that it ended its operation, ms in the queue, ms in all
  but its pauses, and '1' where it had such or '0'; or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
store.hear(ARGV[9])

local id, token, settlement = ARGV[10], ARGV[11], ARGV[12]
local call = store.readCall(id)
local hold = worker.known and store.holdOf(id)
if not hold or store.termsOf(hold).token ~= token then
  local before = call and call.state == 'settled' and store.callField(id .. ':e')
  local same = before == 'settled|0|' .. token .. '|' .. settlement or
    before == 'settled|1|' .. token .. '|' .. settlement
  return store.finish({ 'OK', '', same and '1' or '0' })
end
local live = store.leaseOf(call)
if live then
  local cancelled = call.state == 'cancelling' and '1' or '0'
  store.toEnded(call, 'settled', 'settled|' .. cancelled .. '|' .. token .. '|' .. settlement)
else store.release(hold) end
store.offerWithheld()
store.startWhatCan()
local reply = { 'OK', '', live and '1' or '0' }
if live and call.operation ~= '' then
  local pause = store.pauseOf(call)
  local queuedMs, awayMs = call.started - call.submitted, pause and pause.away or 0
  local totalMs = worker.now - call.submitted - awayMs
  for _, value in ipairs({ call.operation, queuedMs, totalMs, pause and '1' or '0' }) do
    reply[#reply + 1] = tostring(value)
  end
end
return store.finish(reply)
