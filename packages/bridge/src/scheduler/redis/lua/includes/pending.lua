-- Writes to hashes and due times are gathered and sent together: a script pays for every command.
local fieldsOf, goneOf = { calls = {}, held = {} }, { calls = {}, held = {} }
local dueAt, dueGone, endedAt = {}, {}, {}

function store.setField(hash, field, value)
  fieldsOf[hash][field] = value
  goneOf[hash][field] = nil
end

function store.dropField(hash, field)
  fieldsOf[hash][field] = nil
  goneOf[hash][field] = true
end

function store.setDue(member, at)
  dueAt[member] = at
  dueGone[member] = nil
end

function store.dropDue(member)
  dueAt[member] = nil
  dueGone[member] = true
end

-- A field of the calls as it is once all that is gathered is written.
function store.callField(field)
  if goneOf.calls[field] then return false end
  return fieldsOf.calls[field] or redis.call('HGET', callsKey, field)
end

-- Lua cannot pass more than some thousand values to one call.
function store.inChunks(command, key, values)
  for from = 1, #values, 1000 do
    redis.call(command, key, unpack(values, from, math.min(from + 999, #values)))
  end
end

function store.pairsOf(map, valueFirst)
  local list = {}
  for key, value in pairs(map) do
    list[#list + 1] = valueFirst and value or key
    list[#list + 1] = valueFirst and key or value
  end
  return list
end

function store.keysOf(map)
  local list = {}
  for key in pairs(map) do list[#list + 1] = key end
  return list
end

function store.flushFields(command, key, map, asPairs, valueFirst)
  if next(map) == nil then return end
  store.inChunks(command, key, asPairs and store.pairsOf(map, valueFirst) or store.keysOf(map))
end

function store.flushDue()
  store.flushFields('ZADD', dueKey, dueAt, true, true)
  store.flushFields('ZREM', dueKey, dueGone)
  dueAt, dueGone = {}, {}
end

function store.flush()
  store.flushFields('HSET', callsKey, fieldsOf.calls, true)
  store.flushFields('HDEL', callsKey, goneOf.calls)
  store.flushFields('HSET', heldKey, fieldsOf.held, true)
  store.flushFields('HDEL', heldKey, goneOf.held)
  store.flushFields('ZADD', endedKey, endedAt, true, true)
end
