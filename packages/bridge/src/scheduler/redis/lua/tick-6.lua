--[[
  Does what is due, and nothing else: lapsed reservations, ended leases, kept places, silent bridges.
  KEYS, ARGV[1..8]: see includes/given.lua
  Returns { 'OK', due } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
store.forget(100)
return store.finish({ 'OK', '' })
