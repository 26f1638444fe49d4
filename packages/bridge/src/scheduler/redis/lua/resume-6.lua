--[[
  Puts a paused call back to its place, with what its tools came to. A repeated attempt of the same resumption is
  answered as the first one was.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] call   ARGV[10] results (JSON)   ARGV[11] attempt   ARGV[12] ids of the tool calls that these are of
  Returns { 'OK', due, 'resumed' or 'not_paused', '' where the call is unknown } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '', '' }) end
local pause = store.pauseOf(call)
if call.state ~= 'paused' then
  return store.finish({ 'OK', '', pause and pause.attempt == ARGV[11] and 'resumed' or 'not_paused' })
end
local awaited = string.match(store.callField(call.id .. ':p'), '^%x+|([^|]*)|')
if awaited ~= ARGV[12] then return store.finish({ 'OK', '', 'not_paused' }) end
pause.queued, pause.attempt = worker.now, ARGV[11]
store.notePause(call, pause)
store.setField('calls', call.id .. ':b', store.callField(call.id .. ':b') .. '"results":' .. ARGV[10] .. '}')
store.toWaiting(call, false)
store.holdBackRivals(call)
store.startWhatCan()
return store.finish({ 'OK', '', 'resumed' })
