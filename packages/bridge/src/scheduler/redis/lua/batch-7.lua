--[[
  Transitions of one worker that were asked for together, one after the other: the same as their scripts at one
  moment, but what every script begins and ends with is done once for all.
  KEYS[1..6], ARGV[1..8]: see includes/given.lua   KEYS[7]: see submit-7.lua
  ARGV[9..] for each its name, how many arguments it has, and these, as its own script takes them from ARGV[9] on
  Returns { { 'OK', due }, for each what its own script returns, without due… } or { { 'LAYOUT', '', layout } }.
]]
--- @include "transitions"
--- @transition "submit"
--- @transition "fetch"
--- @transition "report"
--- @transition "settle"
--- @transition "end"
--- @transition "call"
--- @transition "progress"
local given, finish = ARGV, store.finish
local refusal = store.begin()
if refusal then return { refusal } end
function store.begin() return nil end
function store.finish(reply) return reply end

local replies, at = { { 'OK', '' } }, 9
while at <= #given do
  local count = tonumber(given[at + 1])
  ARGV = { unpack(given, 1, 8) }
  for index = 1, count do ARGV[8 + index] = given[at + 1 + index] end
  replies[#replies + 1] = transitions[given[at]]()
  at = at + 2 + count
end
finish(replies[1])
return replies
