-- Writes to hashes and due times are gathered and sent together: a script pays for every command.
local fieldsOf, goneOf = { calls = {}, held = {} }, { calls = {}, held = {} }
local dueAt, dueGone, endedAt = {}, {}, {}

local function setField(hash, field, value)
  fieldsOf[hash][field] = value
  goneOf[hash][field] = nil
end

local function dropField(hash, field)
  fieldsOf[hash][field] = nil
  goneOf[hash][field] = true
end

local function setDue(member, at)
  dueAt[member] = at
  dueGone[member] = nil
end

local function dropDue(member)
  dueAt[member] = nil
  dueGone[member] = true
end

-- Lua cannot pass more than some thousand values to one call.
local function inChunks(command, key, values)
  for from = 1, #values, 1000 do
    redis.call(command, key, unpack(values, from, math.min(from + 999, #values)))
  end
end

local function pairsOf(map, valueFirst)
  local list = {}
  for key, value in pairs(map) do
    list[#list + 1] = valueFirst and value or key
    list[#list + 1] = valueFirst and key or value
  end
  return list
end

local function keysOf(map)
  local list = {}
  for key in pairs(map) do list[#list + 1] = key end
  return list
end

local function flushDue()
  inChunks('ZADD', dueKey, pairsOf(dueAt, true))
  inChunks('ZREM', dueKey, keysOf(dueGone))
  dueAt, dueGone = {}, {}
end

local function flush()
  inChunks('HSET', callsKey, pairsOf(fieldsOf.calls))
  inChunks('HDEL', callsKey, keysOf(goneOf.calls))
  inChunks('HSET', heldKey, pairsOf(fieldsOf.held))
  inChunks('HDEL', heldKey, keysOf(goneOf.held))
  inChunks('ZADD', endedKey, pairsOf(endedAt, true))
  flushDue()
end
