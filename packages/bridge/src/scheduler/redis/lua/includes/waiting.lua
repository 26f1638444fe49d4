--- @include "room"
--[[
  The index of all that waits: one sorted set, read by prefix. The members, where S is a place in the sequence
  and ID a call (or '-' for a kept place):
    q|S|ID                   the queue
    A|LANE|S|ID              waits for exactly this lane       X|LANE|S|ID   … and is exclusive
    a|LANE|S|ID              waits for it or one beneath it    x|LANE|S|ID   … and is exclusive
    s|LANE|POOL|PRINCIPAL|S|ID   shared calls of one lane, pool and principal that are offered
    o|BRIDGE|ID              what leaves the queue when that bridge dies
    k|FINGERPRINT|PRINCIPAL|S|ID|SINCE|LANE|MODE   places that are kept for a retry
    b|S|LINE                 the line whose first call cannot start while S waits or runs
    r|GROUP|PRINCIPAL|S|ID   first calls of lines that nothing blocks; H|GROUP|S|PRINCIPAL the oldest of each
  A line is X|LANE| or s|LANE|POOL|PRINCIPAL|: of its calls none can start before the first.
]]
local function within(prefix, ...)
  return redis.call('ZRANGEBYLEX', indexKey, '[' .. prefix, '(' .. prefix .. '\255', ...)
end

local function first(prefix)
  return within(prefix, 'LIMIT', 0, 1)[1]
end

local function placeIn(member)
  return string.match(member, '|(%d+)|([^|]*)$')
end

local function addMembers(members)
  local values = {}
  for _, member in ipairs(members) do
    values[#values + 1] = 0
    values[#values + 1] = member
  end
  inChunks('ZADD', indexKey, values)
end

-- What makes an entry a rival of others, whether it is a call or a place.
local function rivalMembers(entry)
  local place = entry.sequence .. '|' .. entry.id
  local members = { 'q|' .. place, 'A|' .. entry.lane .. '|' .. place }
  local exclusive = entry.mode == 'x'
  if exclusive then members[3] = 'X|' .. entry.lane .. '|' .. place end
  for _, node in ipairs(nodesTo(entry.lane)) do
    members[#members + 1] = 'a|' .. node .. '|' .. place
    if exclusive then members[#members + 1] = 'x|' .. node .. '|' .. place end
  end
  return members
end

local function lineOf(call)
  if call.mode == 'x' then return 'X|' .. call.lane .. '|' end
  return 's|' .. call.lane .. '|' .. call.pool .. '|' .. call.principal .. '|'
end

local function ownedBy(call)
  return 'o|' .. call.replica .. '|' .. call.id
end

-- The place of an older waiting entry that conflicts, or nil.
local function waitingRival(call)
  local here, beneath = 'X|', 'x|'
  if call.mode == 'x' then here, beneath = 'A|', 'a|' end
  local nodes = nodesTo(call.lane)
  for depth, node in ipairs(nodes) do
    local member = first((depth < #nodes and here or beneath) .. node .. '|')
    local sequence = member and placeIn(member)
    if sequence and sequence < call.sequence then return sequence end
  end
  return nil
end

local function readyMembers(call)
  local group = groupOf(call)
  return 'r|' .. group .. '|' .. call.principal .. '|' .. call.sequence .. '|' .. call.id,
    'H|' .. group .. '|' .. call.sequence .. '|' .. call.principal, group
end

local function addReady(call)
  local ready, head, group = readyMembers(call)
  local before = first('r|' .. group .. '|' .. call.principal .. '|')
  local sequence = before and placeIn(before)
  stirred = true
  if sequence and sequence <= call.sequence then
    addMembers({ ready })
    return
  end
  addMembers({ ready, head })
  if sequence then redis.call('ZREM', indexKey, 'H|' .. group .. '|' .. sequence .. '|' .. call.principal) end
end

-- Looks again at the first call of a line: it can start as far as lanes go, or one that blocks it is noted.
local function evaluate(line)
  local member = first(line)
  if not member then return end
  local sequence, id = placeIn(member)
  if id == '-' or isIn('withheld', id) then return end
  local call = readCall(id)
  local blocker = runningRival(call) or waitingRival(call)
  if blocker then addMembers({ 'b|' .. blocker .. '|' .. line })
  else addReady(call) end
end

-- Something left a place: whatever it blocked is looked at again.
local function departed(sequence)
  local prefix = 'b|' .. sequence .. '|'
  local members = within(prefix)
  if #members == 0 then return end
  inChunks('ZREM', indexKey, members)
  for _, member in ipairs(members) do evaluate(string.sub(member, #prefix + 1)) end
end

local function insertWaiting(call, blocker)
  local members = rivalMembers(call)
  local withheld = isIn('withheld', call.id)
  members[#members + 1] = ownedBy(call)
  if call.mode == 's' and not withheld then
    members[#members + 1] = lineOf(call) .. call.sequence .. '|' .. call.id
  end
  if blocker then members[#members + 1] = 'b|' .. blocker .. '|' .. lineOf(call) end
  addMembers(members)
end

local function removeWaiting(call)
  local members = rivalMembers(call)
  members[#members + 1] = ownedBy(call)
  if call.mode == 's' then members[#members + 1] = lineOf(call) .. call.sequence .. '|' .. call.id end
  local ready, head, group = readyMembers(call)
  members[#members + 1] = head
  members[#members + 1] = ready
  redis.call('ZREM', indexKey, unpack(members))
  local after = first('r|' .. group .. '|' .. call.principal .. '|')
  if after then addMembers({ 'H|' .. group .. '|' .. placeIn(after) .. '|' .. call.principal }) end
end
