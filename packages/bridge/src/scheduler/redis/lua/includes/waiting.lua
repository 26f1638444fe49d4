--- @include "room"
--[[
  The index of all that waits: one sorted set, read by prefix. The members, where S is a place in the sequence
  and ID a call (or '-' for a kept place):
    q|S|ID                   the queue
    A|LANE|S|ID              waits for exactly this lane       X|LANE|S|ID   … and is exclusive
    a|LANE|S|ID              waits for it or one beneath it    x|LANE|S|ID   … and is exclusive, in a lane without setup
    s|LANE|POOL|PRINCIPAL|S|ID   shared calls of one lane, pool and principal that are offered
    o|BRIDGE|ID              what leaves the queue when that bridge dies
    p|PRINCIPAL|ID           what fills that principal's share of the queue
    k|FINGERPRINT|PRINCIPAL|S|ID|SINCE|LANE|MODE   places that are kept for a retry
    b|S|LINE                 the line whose first call cannot start while S waits or runs
    r|GROUP|PRINCIPAL|S|ID   first calls of lines that nothing blocks; H|GROUP|S|PRINCIPAL the oldest of each
  A line is X|LANE| or s|LANE|POOL|PRINCIPAL|: of its calls none can start before the first.
]]
function store.within(prefix, ...)
  return redis.call('ZRANGEBYLEX', indexKey, '[' .. prefix, '(' .. prefix .. '\255', ...)
end

-- Most of the time nothing waits; then nothing in the index needs to be looked for.
local isEmpty

function store.nothingWaits()
  if isEmpty == nil then isEmpty = redis.call('ZCARD', indexKey) <= 1 end
  return isEmpty
end

function store.first(prefix)
  return store.within(prefix, 'LIMIT', 0, 1)[1]
end

function store.placeIn(member)
  return string.match(member, '|(%d+)|([^|]*)$')
end

function store.addMembers(members)
  isEmpty = false
  local values = {}
  for _, member in ipairs(members) do
    values[#values + 1] = '0'
    values[#values + 1] = member
  end
  store.inChunks('ZADD', indexKey, values)
end

-- Whether a setup of exactly that lane waits or runs.
function store.hasSetup(lane)
  return worker.unready ~= '' and string.find(worker.unready, ' ' .. lane .. ' ', 1, true) ~= nil
end

-- What makes an exclusive entry hold shared calls back, wherever one of them is.
function store.holdingMembers(lane, place)
  local members = {}
  for index, node in ipairs(store.nodesTo(lane)) do members[index] = 'x|' .. node .. '|' .. place end
  return members
end

-- What makes an entry a rival of others, whether it is a call or a place.
function store.rivalMembers(entry)
  local place = entry.sequence .. '|' .. entry.id
  local exclusive = entry.mode == 'x'
  local members = exclusive and store.holdingMembers(entry.lane, place) or {}
  members[#members + 1] = 'q|' .. place
  members[#members + 1] = 'A|' .. entry.lane .. '|' .. place
  if exclusive then members[#members + 1] = 'X|' .. entry.lane .. '|' .. place end
  for _, node in ipairs(store.nodesTo(entry.lane)) do members[#members + 1] = 'a|' .. node .. '|' .. place end
  return members
end

-- What waits for a setup is to be passed by shared calls.
function store.addRival(entry, members)
  store.addMembers(members)
  if entry.mode == 'x' and store.hasSetup(entry.lane) then
    redis.call('ZREM', indexKey, unpack(store.holdingMembers(entry.lane, entry.sequence .. '|' .. entry.id)))
  end
end

function store.lineOf(call)
  if call.mode == 'x' then return 'X|' .. call.lane .. '|' end
  return 's|' .. call.lane .. '|' .. call.pool .. '|' .. call.principal .. '|'
end

function store.ownedBy(call)
  return 'o|' .. call.replica .. '|' .. call.id
end

function store.sharedBy(call)
  return 'p|' .. call.principal .. '|' .. call.id
end

function store.countWithin(prefix)
  if store.nothingWaits() then return 0 end
  return redis.call('ZLEXCOUNT', indexKey, '[' .. prefix, '(' .. prefix .. '\255')
end

-- Where in the index the rivals of a call are: prefixes of the lists that hold nothing else.
function store.rivalLists(call)
  local lists, nodes = {}, store.nodesTo(call.lane)
  for depth, node in ipairs(nodes) do
    local isOwn = depth == #nodes
    if call.mode == 'x' then lists[#lists + 1] = (isOwn and 'a|' or 'A|') .. node .. '|'
    elseif isOwn then lists[#lists + 1] = 'x|' .. node .. '|'
    elseif not store.hasSetup(node) then lists[#lists + 1] = 'X|' .. node .. '|' end
  end
  return lists
end

-- The place of an older waiting entry that conflicts, or nil.
function store.waitingRival(call)
  if store.nothingWaits() then return nil end
  for _, list in ipairs(store.rivalLists(call)) do
    local member = store.first(list)
    local sequence = member and store.placeIn(member)
    if sequence and sequence < call.sequence then return sequence end
  end
  return nil
end

function store.readyMembers(call)
  local group = store.groupOf(call)
  return 'r|' .. group .. '|' .. call.principal .. '|' .. call.sequence .. '|' .. call.id,
    'H|' .. group .. '|' .. call.sequence .. '|' .. call.principal, group
end

-- Groups that were found to have nothing ready, and need no second look in the same script.
local emptyGroups = {}

function store.addReady(call)
  local ready, head, group = store.readyMembers(call)
  emptyGroups[group] = nil
  local before = store.first('r|' .. group .. '|' .. call.principal .. '|')
  local sequence = before and store.placeIn(before)
  stirred = true
  if sequence and sequence <= call.sequence then
    store.addMembers({ ready })
    return
  end
  store.addMembers({ ready, head })
  if sequence then redis.call('ZREM', indexKey, 'H|' .. group .. '|' .. sequence .. '|' .. call.principal) end
end

-- Looks again at the first call of a line: it can start as far as lanes go, or one that blocks it is noted.
function store.evaluate(line)
  if store.nothingWaits() then return end
  local member = store.first(line)
  if not member then return end
  local sequence, id = store.placeIn(member)
  if id == '-' or store.isIn('withheld', id) then return end
  local call = store.readCall(id)
  local blocker = store.runningRival(call) or store.waitingRival(call)
  if blocker then store.addMembers({ 'b|' .. blocker .. '|' .. line })
  else store.addReady(call) end
end

-- Something left a place: whatever it blocked is looked at again.
function store.departed(sequence)
  if store.nothingWaits() then return end
  local prefix = 'b|' .. sequence .. '|'
  local members = store.within(prefix)
  if #members == 0 then return end
  store.inChunks('ZREM', indexKey, members)
  for _, member in ipairs(members) do store.evaluate(string.sub(member, #prefix + 1)) end
end

function store.insertWaiting(call, blocker)
  local members = store.rivalMembers(call)
  local withheld = store.isIn('withheld', call.id)
  members[#members + 1] = store.ownedBy(call)
  members[#members + 1] = store.sharedBy(call)
  if call.mode == 's' and not withheld then
    members[#members + 1] = store.lineOf(call) .. call.sequence .. '|' .. call.id
  end
  if blocker then members[#members + 1] = 'b|' .. blocker .. '|' .. store.lineOf(call) end
  store.addRival(call, members)
end

function store.removeWaiting(call)
  local members = store.rivalMembers(call)
  members[#members + 1] = store.ownedBy(call)
  members[#members + 1] = store.sharedBy(call)
  if call.mode == 's' then members[#members + 1] = store.lineOf(call) .. call.sequence .. '|' .. call.id end
  store.removeReady(call, members)
end

-- Takes a call out of those that nothing blocks, if it is among them, and members out of the index together with it.
function store.removeReady(call, members)
  members = members or {}
  local ready, head, group = store.readyMembers(call)
  members[#members + 1] = head
  members[#members + 1] = ready
  redis.call('ZREM', indexKey, unpack(members))
  local after = store.first('r|' .. group .. '|' .. call.principal .. '|')
  if after then store.addMembers({ 'H|' .. group .. '|' .. store.placeIn(after) .. '|' .. call.principal }) end
end
