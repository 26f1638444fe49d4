--[[
  Takes a script that waits for its tools out of all that it occupies, with its worker's word; the token decides.
  Repeating the same pause is accepted again and changes nothing.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] incarnation   ARGV[10] call   ARGV[11] token   ARGV[12] what it waits for (JSON)
  ARGV[13] how long its worker keeps it, in ms   ARGV[14] ids of its tool calls
  Returns { 'OK', due, '1' accepted or '0' } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
store.hear(ARGV[9])

local id, token, said = ARGV[10], ARGV[11], ARGV[12]
local call = store.readCall(id)
local hold = worker.known and store.holdOf(id)
if not hold or store.termsOf(hold).token ~= token then
  local same = call and call.pause ~= '' and store.callField(id .. ':p') == token .. '|' .. ARGV[14] .. '|' .. said
  return store.finish({ 'OK', '', same and '1' or '0' })
end
local accepted = '0'
if not store.leaseOf(call) then store.release(hold)
elseif call.state == 'cancelling' then store.toEnded(call, 'settled', 'stopped|||')
elseif call.operation == 'run_script' then
  store.toPaused(call, token, ARGV[14] .. '|' .. said, tonumber(ARGV[13]))
  accepted = '1'
end
store.offerWithheld()
store.startWhatCan()
return store.finish({ 'OK', '', accepted })
