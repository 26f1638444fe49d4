--[[
  What every script is given.
  KEYS[1] hash   fields of the worker                     KEYS[4] zset  lexical index of all that waits
  KEYS[2] hash   calls: id, and id:b, id:e, id:p    KEYS[5] zset  what is due, by time
  KEYS[3] hash   what is reserved or leased, by call id    KEYS[6] zset  ended calls, by when they are forgotten
  Beside each call are its body (b) and, where it has them, its end (e) and its pause (p).
  ARGV[1] the time of a simulation, '' for the clock of Redis
  ARGV[2] the channel on which changes of this worker are told
  ARGV[3] lease  ARGV[4] fetch within  ARGV[5] place kept  ARGV[6] end remembered
  ARGV[7] how long a bridge may be silent  ARGV[8] how long unused keys are kept; all in ms
  From ARGV[9] on: the arguments of the script.
]]
-- Its own name, so that a batch can give each of its transitions other ones.
local ARGV = ARGV
local workerKey, callsKey, heldKey = KEYS[1], KEYS[2], KEYS[3]
local indexKey, dueKey, endedKey = KEYS[4], KEYS[5], KEYS[6]
local channel = ARGV[2]
local leaseTtl, fetchWithin, placeKept = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local endRemembered, replicaSilent, keysKept = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local layout = '2'
-- Holds all functions: one that is called costs nothing, a closure pays for every local that it captures.
local store = {}
