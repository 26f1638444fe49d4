// Made by scripts/build-lua.mjs from lua/*.lua. Do not edit.

const given = `local workerKey, callsKey, heldKey = KEYS[1], KEYS[2], KEYS[3]
local indexKey, dueKey, endedKey = KEYS[4], KEYS[5], KEYS[6]
local channel = ARGV[2]
local leaseTtl, fetchWithin, placeKept = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local endRemembered, replicaSilent, keysKept = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local layout = '1'`;

const worker = `local worker, workerChanges = {}, {}
local news, somethingToFetch = {}, false
local function put(field, value)
  worker[field] = value
  workerChanges[field] = value
end
local function clockNow()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function openWorker()
  local found = redis.call('HMGET', workerKey, 'layout', 'seen', 'heard', 'incarnation', 'journal', 'slots',
    'files', 'capacities', 'offering', 'sequence', 'starts', 'generation', 'withheld', 'loose', 'kept', 'fetched')
  worker.layout = found[1]
  worker.known = found[1] and true or false
  worker.now = math.max(clockNow(), tonumber(found[2] or 0))
  worker.heard = tonumber(found[3] or 0)
  worker.incarnation, worker.journal = found[4], found[5]
  worker.slots, worker.files = tonumber(found[6] or 0), tonumber(found[7] or 0)
  worker.capacities = found[8] or ''
  worker.offering = found[9] ~= '0'
  worker.sequence, worker.starts = tonumber(found[10] or 0), tonumber(found[11] or 0)
  worker.generation = tonumber(found[12] or 0)
  worker.withheld, worker.loose = found[13] or '', found[14] or ''
  worker.kept = tonumber(found[15] or 0)
  worker.fetched = found[16]
end
local function leaseLeft()
  return math.max(0, math.ceil(worker.heard + leaseTtl - worker.now))
end
local function isOnline()
  return worker.known and leaseLeft() > 0
end
local function setOffering(offering)
  worker.offering = offering
  workerChanges.offering = offering and '1' or '0'
end
local function nextSequence()
  put('sequence', worker.sequence + 1)
  return string.format('%012d', worker.sequence)
end
local function addTo(field, id)
  if not string.find(worker[field], id, 1, true) then put(field, worker[field] .. id .. ',') end
end
local function takeFrom(field, id)
  if worker[field] == '' then return end
  local from, to = string.find(worker[field], id .. ',', 1, true)
  if from then put(field, string.sub(worker[field], 1, from - 1) .. string.sub(worker[field], to + 1)) end
end
local function isIn(field, id)
  return worker[field] ~= '' and string.find(worker[field], id, 1, true) ~= nil
end
local function hear(incarnation)
  if not worker.known then return 'WORKER_NOT_FOUND' end
  if worker.incarnation ~= incarnation then return 'WORKER_FENCED' end
  put('heard', worker.now)
  return nil
end`;

const pending = `local fieldsOf, goneOf = { calls = {}, held = {} }, { calls = {}, held = {} }
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
end`;

const calls = `local calls = {}
local ended = { settled = true, withdrawn = true, interrupted = true }
local function readCall(id)
  if calls[id] then return calls[id] end
  local text = redis.call('HGET', callsKey, id)
  if not text then return nil end
  local call = { id = id }
  call.state, call.since, call.submitted, call.revision, call.sequence, call.lane, call.mode, call.pool,
    call.principal, call.fingerprint, call.operation, call.replica, call.attempt = string.match(text,
    '^(%a+)|([^|]*)|([^|]*)|(%d+)|(%d*)|([^|]*)|(%a)|(%a)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  if ended[call.state] and tonumber(call.since) + endRemembered <= worker.now then return nil end
  calls[id] = call
  return call
end
local function writeCall(call)
  calls[call.id] = call
  setField('calls', call.id, table.concat({ call.state, call.since, call.submitted, call.revision, call.sequence,
    call.lane, call.mode, call.pool, call.principal, call.fingerprint, call.operation, call.replica, call.attempt }, '|'))
end
local function enter(call, state, since)
  call.state, call.since, call.revision = state, since, call.revision + 1
  writeCall(call)
  news[call.id] = state
end
local function forget(limit)
  local ids = redis.call('ZRANGEBYSCORE', endedKey, '-inf', worker.now, 'LIMIT', 0, limit)
  for _, id in ipairs(ids) do
    dropField('calls', id)
    dropField('calls', id .. ':e')
    calls[id] = nil
  end
  if #ids > 0 then redis.call('ZREM', endedKey, unpack(ids)) end
end`;

const lanes = `local function lanesOverlap(one, other)
  if #one > #other then one, other = other, one end
  return string.sub(other, 1, #one) == one
end
local function nodesTo(lane)
  local nodes, at = {}, string.find(lane, '/', 1, true)
  while at do
    nodes[#nodes + 1] = string.sub(lane, 1, at)
    at = string.find(lane, '/', at + 1, true)
  end
  return nodes
end
local function conflict(one, other)
  return (one.mode == 'x' or other.mode == 'x') and lanesOverlap(one.lane, other.lane)
end`;

const held = `local held
local stirred = false
local function loadHeld()
  if held then return held end
  held = {}
  local flat = redis.call('HGETALL', heldKey)
  for at = 1, #flat, 2 do
    local id = flat[at]
    if id ~= '-' then
      local hold = { id = id }
      hold.phase, hold.order, hold.lane, hold.mode, hold.pool, hold.principal, hold.sequence, hold.generation,
        hold.token, hold.unresolved, hold.told, hold.stop = string.match(flat[at + 1],
        '^(%a)|(%d+)|([^|]*)|(%a)|(%a)|([^|]*)|(%d*)|(%d+)|(%x*)|(%d)|(%d)|(%d)$')
      held[id] = hold
    end
  end
  return held
end
local function saveHold(hold)
  loadHeld()[hold.id] = hold
  setField('held', hold.id, table.concat({ hold.phase, hold.order, hold.lane, hold.mode, hold.pool, hold.principal,
    hold.sequence, hold.generation, hold.token, hold.unresolved, hold.told, hold.stop }, '|'))
end
local function vacate(id)
  loadHeld()[id] = nil
  dropField('held', id)
  dropDue(id)
  stirred = true
end
local function occupy(call, phase, order)
  saveHold({ id = call.id, phase = phase, order = order, lane = call.lane, mode = call.mode, pool = call.pool,
    principal = call.principal, sequence = call.sequence, generation = 0, token = '', unresolved = 0, told = 0,
    stop = 0 })
end
local leasedStates = { delivered = true, running = true, cancelling = true }
local function leaseOf(call)
  if call and leasedStates[call.state] then return loadHeld()[call.id] end
  return nil
end
local function runningRival(call)
  for id, hold in pairs(loadHeld()) do
    if id ~= call.id and hold.pool ~= 'n' and conflict(hold, call) then return hold.sequence end
  end
  return nil
end`;

const room = `local capacityOf
local function capacities()
  if capacityOf then return capacityOf end
  capacityOf = {}
  for lane, commands in string.gmatch(worker.capacities, '([^=,]+)=(%d+)') do capacityOf[lane] = tonumber(commands) end
  return capacityOf
end
local function tally()
  local sum = { c = 0, f = 0, n = 0, principals = {}, distinct = 0 }
  for _, hold in pairs(loadHeld()) do
    sum[hold.pool] = sum[hold.pool] + 1
    if hold.pool ~= 'n' then
      local before = sum.principals[hold.principal]
      if not before then sum.distinct = sum.distinct + 1 end
      sum.principals[hold.principal] = (before or 0) + 1
    end
  end
  return sum
end
local function commandsWithin(node)
  local commands = 0
  for _, hold in pairs(loadHeld()) do
    if hold.pool == 'c' and string.sub(hold.lane, 1, #node) == node then commands = commands + 1 end
  end
  return commands
end
local function hasFullNode(lane)
  if worker.capacities == '' then return false end
  for _, node in ipairs(nodesTo(lane)) do
    local most = capacities()[node]
    if most and commandsWithin(node) >= most then return true end
  end
  return false
end
local function lackingFor(pool, lane, sum)
  if pool == 'f' then return sum.f >= worker.files and 'files' or nil end
  if sum.c >= worker.slots then return 'slots' end
  return hasFullNode(lane) and 'repository' or nil
end
local function groupOf(call)
  if call.pool == 'f' then return 'f' end
  if worker.capacities == '' then return 'c' end
  local deepest = ''
  for _, node in ipairs(nodesTo(call.lane)) do
    if capacities()[node] then deepest = node end
  end
  return 'c' .. deepest
end
local function groupsWithRoom(sum)
  local groups = {}
  if sum.f < worker.files then groups[1] = 'f' end
  if sum.c >= worker.slots then return groups end
  groups[#groups + 1] = 'c'
  if worker.capacities ~= '' then
    for node in pairs(capacities()) do
      if not hasFullNode(node) then groups[#groups + 1] = 'c' .. node end
    end
  end
  return groups
end`;

const waiting = `local function within(prefix, ...)
  return redis.call('ZRANGEBYLEX', indexKey, '[' .. prefix, '(' .. prefix .. '\\255', ...)
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
end`;

const moves = `local touched = {}
local function touch(sequence, line)
  touched[#touched + 1] = { sequence, line }
end
local function reconsider()
  while #touched > 0 do
    local look = table.remove(touched)
    if look[1] then departed(look[1]) end
    if look[2] then evaluate(look[2]) end
  end
end
local function leave(call)
  if call.state == 'waiting' then
    takeFrom('withheld', call.id)
    if call.pool == 'n' then
      takeFrom('loose', call.id)
      redis.call('ZREM', indexKey, ownedBy(call))
    else removeWaiting(call) end
  elseif call.state == 'reserved' or leaseOf(call) then vacate(call.id) end
end
local function expectReplica(replica)
  if replica == '' then return end
  local member = 'a|' .. replica
  if not dueAt[member] and not redis.call('ZSCORE', dueKey, member) then setDue(member, worker.now + replicaSilent) end
end
local function toWaiting(call, withheld)
  leave(call)
  expectReplica(call.replica)
  if withheld then addTo('withheld', call.id) end
  if call.pool == 'n' then
    addTo('loose', call.id)
    addMembers({ ownedBy(call) })
  else
    insertWaiting(call)
    touch(call.sequence, lineOf(call))
  end
  enter(call, 'waiting', call.submitted)
end
local function reserve(call)
  put('starts', worker.starts + 1)
  occupy(call, 'r', worker.starts)
  setDue(call.id, worker.now + fetchWithin)
  somethingToFetch = true
  enter(call, 'reserved', worker.now)
end
local function toReserved(call)
  leave(call)
  if call.pool ~= 'n' then touch(nil, lineOf(call)) end
  reserve(call)
end
local function toEnded(call, state, ending)
  local waited = call.state == 'waiting'
  leave(call)
  if call.pool ~= 'n' then touch(call.sequence, waited and lineOf(call) or nil) end
  setField('calls', call.id .. ':e', ending)
  dropField('calls', call.id .. ':b')
  endedAt[call.id] = worker.now + endRemembered
  enter(call, state, worker.now)
end
local function withdrawCall(call, why)
  toEnded(call, 'withdrawn', 'withdrawn|' .. why .. '||')
end
local function interruptCall(call, reason)
  toEnded(call, 'interrupted', 'interrupted|||' .. reason)
end
local function release(hold)
  vacate(hold.id)
  if hold.pool ~= 'n' then touch(hold.sequence, nil) end
end
local function offerWithheld()
  if worker.withheld == '' then return end
  local ids = worker.withheld
  put('withheld', '')
  stirred = true
  for id in string.gmatch(ids, '([^,]+),') do
    local call = readCall(id)
    if call.pool ~= 'n' then
      if call.mode == 's' then addMembers({ lineOf(call) .. call.sequence .. '|' .. id }) end
      touch(nil, lineOf(call))
    end
  end
end`;

const places = `local function placeOf(member)
  local place = { id = '-', member = member }
  place.sequence, place.callId, place.since, place.lane, place.mode =
    string.match(member, '^k|[^|]*|[^|]*|(%d+)|([^|]*)|([^|]*)|([^|]*)|(%a)$')
  return place
end
local function keepPlace(call)
  local member = table.concat({ 'k', call.fingerprint, call.principal, call.sequence, call.id, call.submitted,
    call.lane, call.mode }, '|')
  local members = rivalMembers(placeOf(member))
  members[#members + 1] = member
  addMembers(members)
  setDue(member, worker.now + placeKept)
end
local function dropPlace(member)
  local place = placeOf(member)
  local members = rivalMembers(place)
  members[#members + 1] = member
  redis.call('ZREM', indexKey, unpack(members))
  dropDue(member)
  touch(place.sequence, place.mode == 'x' and 'X|' .. place.lane .. '|' or nil)
  return place
end
local function takeKeptPlace(fingerprint, principal)
  local member = first('k|' .. fingerprint .. '|' .. principal .. '|')
  return member and dropPlace(member).sequence
end`;

const start = `local function nextToStart()
  local sum = tally()
  local best
  for _, group in ipairs(groupsWithRoom(sum)) do
    for _, member in ipairs(within('H|' .. group .. '|', 'LIMIT', 0, sum.distinct + 1)) do
      local sequence, principal = placeIn(member)
      local runs = sum.principals[principal] or 0
      if not best or runs < best.runs or (runs == best.runs and sequence < best.sequence) then
        best = { runs = runs, sequence = sequence, principal = principal, group = group }
      end
      if runs == 0 then break end
    end
  end
  if not best then return nil end
  local member = first('r|' .. best.group .. '|' .. best.principal .. '|')
  local _, id = placeIn(member)
  return readCall(id)
end
local function startWhatCan()
  reconsider()
  if not worker.offering then return end
  for id in string.gmatch(worker.loose, '([^,]+),') do
    if not isIn('withheld', id) then toReserved(readCall(id)) end
  end
  while stirred do
    local call = nextToStart()
    if not call then
      stirred = false
      return
    end
    toReserved(call)
    reconsider()
  end
end`;

const due = `local function reservationLapsed(call)
  setOffering(false)
  toWaiting(call, false)
end
local function leaseEnded(hold)
  local call = readCall(hold.id)
  if call and leaseOf(call) then
    interruptCall(call, 'the worker was not heard from until the lease of this call had ended')
  else release(hold) end
end
local function replicaGone(replica)
  for id, hold in pairs(loadHeld()) do
    if hold.phase == 'r' then
      local call = readCall(id)
      if call.replica == replica then withdrawCall(call, 'caller_gone') end
    end
  end
  local prefix = 'o|' .. replica .. '|'
  for _, member in ipairs(within(prefix)) do
    withdrawCall(readCall(string.sub(member, #prefix + 1)), 'caller_gone')
  end
end
local function becomesDue(member)
  local kind = string.sub(member, 1, 2)
  if kind == 'k|' then dropPlace(member)
  elseif kind == 'a|' then
    dropDue(member)
    replicaGone(string.sub(member, 3))
  else
    local hold = loadHeld()[member]
    if not hold then dropDue(member)
    elseif hold.phase == 'r' then reservationLapsed(readCall(member))
    else leaseEnded(hold) end
  end
  startWhatCan()
end
local function expireDue()
  local now = worker.now
  while true do
    local earliest = redis.call('ZRANGE', dueKey, 0, 0, 'WITHSCORES')
    local at = earliest[1] and tonumber(earliest[2])
    if not at or at > now then break end
    worker.now = at
    becomesDue(earliest[1])
    flushDue()
  end
  worker.now = now
end`;

const script = `local function begin()
  openWorker()
  if worker.known and worker.layout ~= layout then return { 'LAYOUT', '', worker.layout } end
  if worker.known then expireDue() end
  return nil
end
local function keepKeys()
  if worker.now - worker.kept < keysKept / 4 then return end
  put('kept', worker.now)
  redis.call('HSET', callsKey, '-', '')
  redis.call('HSET', heldKey, '-', '')
  redis.call('ZADD', indexKey, 0, '-')
  redis.call('ZADD', dueKey, '+inf', '-')
  redis.call('ZADD', endedKey, '+inf', '-')
  redis.call('HSET', workerKey, 'kept', worker.now)
  for _, key in ipairs({ workerKey, callsKey, heldKey, indexKey, dueKey, endedKey }) do
    redis.call('PEXPIRE', key, keysKept)
  end
end
local function finish(reply)
  if not worker.known then return reply end
  flush()
  keepKeys()
  put('seen', worker.now)
  redis.call('HSET', workerKey, unpack(pairsOf(workerChanges)))
  local earliest = redis.call('ZRANGE', dueKey, 0, 0, 'WITHSCORES')
  local at = earliest[1] and tonumber(earliest[2]) or math.huge
  reply[2] = at == math.huge and '' or tostring(math.max(0, at - worker.now))
  if somethingToFetch or next(news) then
    local told = { reply[2], somethingToFetch and '*' or '' }
    for id, state in pairs(news) do told[#told + 1] = id .. ':' .. state end
    redis.call('PUBLISH', channel, table.concat(told, ' '))
  end
  return reply
end`;

const reason = `local blockersShown = 5
local function tellBlocker(reply, id, lane, state, since, principal, operation)
  for _, value in ipairs({ id, lane, state, tostring(math.floor(worker.now - since)), principal, operation }) do
    reply[#reply + 1] = value
  end
end
local function tellRunning(reply, hold)
  local call = readCall(hold.id)
  local live = call and not ended[call.state]
  tellBlocker(reply, hold.id, hold.lane, 'running', call and call.since or worker.now, hold.principal,
    live and call.operation or '')
end
local function tellWaiting(reply, sequence, id)
  if id == '-' then
    for _, member in ipairs(within('k|')) do
      local place = placeOf(member)
      if place.sequence == sequence then
        local principal = string.match(member, '^k|[^|]*|([^|]*)|')
        tellBlocker(reply, place.callId, place.lane, 'waiting', place.since, principal, '')
      end
    end
    return
  end
  local call = readCall(id)
  tellBlocker(reply, id, call.lane, 'waiting', call.since, call.principal, call.operation)
end
local function runningRivals(call)
  local rivals = {}
  for _, hold in pairs(loadHeld()) do
    if hold.pool ~= 'n' and conflict(hold, call) then rivals[#rivals + 1] = hold end
  end
  table.sort(rivals, function(one, other) return one.sequence < other.sequence end)
  return rivals
end
local function waitingRivals(call, most)
  local here, beneath = 'X|', 'x|'
  if call.mode == 'x' then here, beneath = 'A|', 'a|' end
  local places, nodes = {}, nodesTo(call.lane)
  for depth, node in ipairs(nodes) do
    for _, member in ipairs(within((depth < #nodes and here or beneath) .. node .. '|', 'LIMIT', 0, most)) do
      local sequence, id = placeIn(member)
      if sequence < call.sequence then places[#places + 1] = { sequence, id } end
    end
  end
  table.sort(places, function(one, other) return one[1] < other[1] end)
  return places
end
local function tellReason(reply, call)
  if call.pool == 'n' or call.state ~= 'waiting' then
    reply[#reply + 1] = '1'
    reply[#reply + 1] = ''
    return
  end
  local older = redis.call('ZLEXCOUNT', indexKey, '[q|', '(q|' .. call.sequence)
  reply[#reply + 1] = tostring(older + 1)
  reply[#reply + 1] = lackingFor(call.pool, call.lane, tally()) or ''
  local shown = 0
  for _, hold in ipairs(runningRivals(call)) do
    if shown == blockersShown then return end
    tellRunning(reply, hold)
    shown = shown + 1
  end
  for _, place in ipairs(waitingRivals(call, blockersShown)) do
    if shown == blockersShown then return end
    tellWaiting(reply, place[1], place[2])
    shown = shown + 1
  end
end`;

const rebuild = `local function rebuild()
  for _, prefix in ipairs({ 'b|', 'r|', 'H|' }) do inChunks('ZREM', indexKey, within(prefix)) end
  local lines = {}
  for _, member in ipairs(within('X|')) do lines[string.match(member, '^(X|[^|]*|)')] = true end
  for _, member in ipairs(within('s|')) do lines[string.match(member, '^(s|[^|]*|%a|[^|]*|)')] = true end
  for line in pairs(lines) do evaluate(line) end
end`;

/** Every Lua script by name: its text, the SHA-1 of its text, and the number of its keys. */
export const luaScripts = {
  beat: {
    keys: 6,
    sha1: 'fff77523e98889c3487d625edf8a8a63794477b0',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local waits = worker.known and first('o|' .. ARGV[9] .. '|')
if waits then setDue('a|' .. ARGV[9], worker.now + replicaSilent)
else dropDue('a|' .. ARGV[9]) end
return finish({ 'OK', '', waits and '1' or '0' })`,
    ].join('\n'),
  },
  call: {
    keys: 6,
    sha1: '6f765915e89e0c527139c1dfe19dce92e35ffb1b',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      reason,
      `local refusal = begin()
if refusal then return refusal end
local call = readCall(ARGV[9])
if not call then return finish({ 'OK', '' }) end
local reply = { 'OK', '', call.principal, call.state, call.lane, tostring(math.floor(worker.now - call.since)),
  tostring(call.revision) }
if call.state == 'waiting' then tellReason(reply, call) end
return finish(reply)`,
    ].join('\n'),
  },
  cancel: {
    keys: 6,
    sha1: '5e6290e2315238205ea0efc9f6b111346ede724e',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local call = readCall(ARGV[9])
if not call then return finish({ 'OK', '', '' }) end
if call.state == 'waiting' or call.state == 'reserved' then
  withdrawCall(call, 'cancelled')
  startWhatCan()
elseif call.state == 'delivered' or call.state == 'running' then
  local hold = leaseOf(call)
  hold.stop = 1
  saveHold(hold)
  somethingToFetch = true
  enter(call, 'cancelling', call.since)
end
return finish({ 'OK', '', call.state })`,
    ].join('\n'),
  },
  end: {
    keys: 6,
    sha1: '3f8b787c4e58d49b0fdd213f37fdb85d0f9579eb',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local call = readCall(ARGV[9])
local isEnded = call and ended[call.state]
local text = isEnded and (fieldsOf.calls[call.id .. ':e'] or redis.call('HGET', callsKey, call.id .. ':e'))
return finish({ 'OK', '', text or '' })`,
    ].join('\n'),
  },
  fetch: {
    keys: 6,
    sha1: '90132c8deb09cf99be9e13290e6ce02555a584ed',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local unheard = hear(ARGV[9])
if unheard then return finish({ unheard, '' }) end
local seed = ARGV[10]
local function tokenOf(id)
  return redis.sha1hex(seed .. id .. '1') .. string.sub(redis.sha1hex(seed .. id .. '2'), 1, 24)
end
local repeated = worker.fetched == seed
if not worker.offering then
  setOffering(true)
  stirred = true
  startWhatCan()
end
local reserved, stopping = {}, {}
for id, hold in pairs(loadHeld()) do
  if repeated then
    if hold.phase == 'l' and hold.token == tokenOf(id) then reserved[#reserved + 1] = hold end
  elseif hold.phase == 'r' then reserved[#reserved + 1] = hold end
  if hold.phase == 'l' and hold.stop == '1' and hold.told == '0' then stopping[#stopping + 1] = hold end
end
table.sort(reserved, function(one, other) return tonumber(one.order) < tonumber(other.order) end)
local reply = { 'OK', '', tostring(#reserved) }
for _, hold in ipairs(reserved) do
  if not repeated then
    put('generation', worker.generation + 1)
    hold.phase, hold.generation, hold.token = 'l', worker.generation, tokenOf(hold.id)
    saveHold(hold)
    setDue(hold.id, worker.now + leaseTtl)
    enter(readCall(hold.id), 'delivered', worker.now)
  end
  for _, value in ipairs({ hold.id, tostring(hold.generation), hold.token, hold.lane, hold.mode, hold.pool }) do
    reply[#reply + 1] = value
  end
  reply[#reply + 1] = redis.call('HGET', callsKey, hold.id .. ':b') or ''
end
for _, hold in ipairs(stopping) do
  hold.told = 1
  saveHold(hold)
  reply[#reply + 1] = hold.id
end
if #reserved > 0 then put('fetched', seed) end
forget(16)
somethingToFetch = false
return finish(reply)`,
    ].join('\n'),
  },
  lanes: {
    keys: 6,
    sha1: '81b7ce453ac4afd0c1a7606a7067eedd3466e056',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      reason,
      `local refusal = begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
local sum = tally()
local reply = { 'OK', '', tostring(leaseLeft()), tostring(sum.c), tostring(worker.slots), tostring(sum.f),
  tostring(worker.files) }
local function tell(call)
  local told = { call.id, call.state, call.lane, call.mode, call.pool, call.operation, call.principal,
    tostring(math.floor(worker.now - call.since)) }
  if call.state == 'waiting' then tellReason(told, call) end
  reply[#reply + 1] = tostring(#told)
  for _, value in ipairs(told) do reply[#reply + 1] = value end
end
local running = {}
for id, hold in pairs(loadHeld()) do
  local call = hold.pool ~= 'n' and readCall(id)
  if call and (hold.phase == 'r' or leaseOf(call)) then running[#running + 1] = { tonumber(hold.order), call } end
end
table.sort(running, function(one, other) return one[1] < other[1] end)
for _, entry in ipairs(running) do tell(entry[2]) end
for _, member in ipairs(within('q|')) do
  local _, id = placeIn(member)
  if id ~= '-' then tell(readCall(id)) end
end
return finish(reply)`,
    ].join('\n'),
  },
  register: {
    keys: 6,
    sha1: 'e789b2f1bb794dce0cdc8f49abab24a8592af214',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      rebuild,
      `local refusal = begin()
if refusal then return refusal end
local incarnation, journal = ARGV[9], ARGV[10]
local sameJournal = worker.journal == journal
if worker.known and not sameJournal and isOnline() and ARGV[15] ~= '1' then return finish({ 'WORKER_FENCED', '' }) end
local sameIncarnation = worker.incarnation == incarnation
local irregular = worker.capacities ~= ARGV[14]
worker.known = true
put('layout', layout)
put('incarnation', incarnation)
put('journal', journal)
workerChanges.capabilities = ARGV[11]
put('slots', tonumber(ARGV[12]))
put('files', tonumber(ARGV[13]))
put('capacities', ARGV[14])
put('heard', worker.now)
capacityOf = nil
for id, hold in pairs(loadHeld()) do
  local call = readCall(id)
  if hold.phase == 'r' then
    if not sameIncarnation then toWaiting(call, false) end
  elseif not sameJournal then
    if leaseOf(call) then interruptCall(call, 'another worker took over from the one that ran this call')
    else release(hold) end
  else
    hold.unresolved, hold.told = 1, 0
    saveHold(hold)
  end
end
local function takeOverHold(id, lane, mode, pool, generation, token)
  local present = loadHeld()[id]
  if present and present.phase == 'l' and present.token == token then
    present.unresolved = 0
    saveHold(present)
    return
  end
  irregular = true
  put('generation', math.max(worker.generation, tonumber(generation)))
  local call = readCall(id)
  local live = call and not ended[call.state]
  if present and not leaseOf(call) and present.phase == 'l' then release(present) end
  if live then leave(call) end
  local claim = live and call or
    { id = id, lane = lane, mode = mode, pool = pool, principal = ARGV[16], sequence = nextSequence() }
  occupy(claim, 'l', 0)
  local hold = loadHeld()[id]
  hold.generation, hold.token, hold.stop = generation, token, live and 0 or 1
  saveHold(hold)
  setDue(id, worker.now + leaseTtl)
  if live then enter(call, 'running', worker.now) return end
  somethingToFetch = true
  if call then return end
  enter({ id = id, submitted = worker.now, revision = -1, sequence = claim.sequence, lane = lane, mode = mode,
    pool = pool, principal = ARGV[16], fingerprint = '', operation = '', replica = '', attempt = '' },
    'cancelling', worker.now)
end
for at = 17, #ARGV, 6 do
  takeOverHold(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
end
if irregular then
  touched = {}
  rebuild()
end
offerWithheld()
stirred = true
startWhatCan()
local reply = { 'OK', '' }
for id, hold in pairs(loadHeld()) do
  if hold.phase == 'l' and tonumber(hold.unresolved) == 1 then reply[#reply + 1] = id end
end
return finish(reply)`,
    ].join('\n'),
  },
  renew: {
    keys: 6,
    sha1: '63116c9da241add53d1c35d192724edef4051240',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local unheard = hear(ARGV[9])
if unheard then return finish({ unheard, '' }) end
local reply, lost = { 'OK', '', '' }, 0
for at = 10, #ARGV, 2 do
  local hold = loadHeld()[ARGV[at]]
  if hold and hold.phase == 'l' and hold.token == ARGV[at + 1] then setDue(hold.id, worker.now + leaseTtl)
  else
    lost = lost + 1
    reply[#reply + 1] = ARGV[at]
  end
end
reply[3] = tostring(lost)
for id, hold in pairs(loadHeld()) do
  if hold.phase == 'l' and hold.stop == '1' then reply[#reply + 1] = id end
end
return finish(reply)`,
    ].join('\n'),
  },
  report: {
    keys: 6,
    sha1: 'adc765b02d7f25f574c86a5bb15275602d2aa313',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local unheard = hear(ARGV[9])
if unheard then return finish({ unheard, '' }) end
local reply = { 'OK', '' }
local function started(call, token)
  local hold = leaseOf(call)
  if not hold or hold.token ~= token then return false end
  if call.state == 'delivered' then enter(call, 'running', worker.now) end
  return true
end
local function busy(call, token)
  local hold = leaseOf(call)
  if not hold or hold.token ~= token then return end
  if call.state == 'delivered' then toWaiting(call, true)
  elseif call.state == 'cancelling' then withdrawCall(call, 'cancelled') end
end
local function denied(call)
  local hold = leaseOf(call)
  if not hold or tonumber(hold.unresolved) ~= 1 then return end
  if call.state == 'cancelling' then withdrawCall(call, 'cancelled')
  elseif redis.call('HEXISTS', callsKey, call.id .. ':b') == 0 then withdrawCall(call, 'caller_gone')
  else toWaiting(call, false) end
end
local function interrupted(id, call)
  local hold = loadHeld()[id]
  if not call or not hold or hold.phase ~= 'l' then return end
  if leaseOf(call) then interruptCall(call, 'the worker was stopped while this call was in its hands')
  else release(hold) end
end
for at = 10, #ARGV, 3 do
  local said, id, token = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local call = id ~= '' and readCall(id) or nil
  if said ~= 'busy' then offerWithheld() end
  if said == 'started' and not started(call, token) then reply[#reply + 1] = id
  elseif said == 'busy' then busy(call, token)
  elseif said == 'denied' then denied(call)
  elseif said == 'interrupted' then interrupted(id, call) end
end
startWhatCan()
return finish(reply)`,
    ].join('\n'),
  },
  settle: {
    keys: 6,
    sha1: '78f2decc2a47f7a2eac30f2751d7b316afa73986',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
hear(ARGV[9])
local id, token, settlement = ARGV[10], ARGV[11], ARGV[12]
local call = readCall(id)
local hold = worker.known and loadHeld()[id]
if not hold or hold.token ~= token then
  local before = call and call.state == 'settled' and redis.call('HGET', callsKey, id .. ':e')
  local same = before == 'settled|0|' .. token .. '|' .. settlement or
    before == 'settled|1|' .. token .. '|' .. settlement
  return finish({ 'OK', '', same and '1' or '0' })
end
local live = leaseOf(call)
if live then
  local cancelled = call.state == 'cancelling' and '1' or '0'
  toEnded(call, 'settled', 'settled|' .. cancelled .. '|' .. token .. '|' .. settlement)
else release(hold) end
offerWithheld()
startWhatCan()
return finish({ 'OK', '', live and '1' or '0' })`,
    ].join('\n'),
  },
  submit: {
    keys: 6,
    sha1: '4d271b51eaa444c181049b75da4ceae0f3c84c59',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
local id = ARGV[9]
local present = readCall(id)
if present then
  if present.attempt == ARGV[17] then return finish({ 'OK', '', present.state }) end
  return finish({ 'CALL_ID_TAKEN', '' })
end
if not isOnline() then return finish({ 'WORKER_OFFLINE', '' }) end
local function isFull(most)
  local queued = redis.call('ZLEXCOUNT', indexKey, '[q|', '(q|\\255')
  if queued < most and worker.loose == '' then return false end
  local _, loose = string.gsub(worker.loose, ',', ',')
  return queued - redis.call('ZLEXCOUNT', indexKey, '[k|', '(k|\\255') + loose >= most
end
if isFull(tonumber(ARGV[18])) then return finish({ 'WORKER_QUEUE_FULL', '' }) end
forget(4)
local call = { id = id, since = worker.now, submitted = worker.now, revision = 0, sequence = '', lane = ARGV[10],
  mode = ARGV[11], pool = ARGV[12], principal = ARGV[13], fingerprint = ARGV[14], operation = ARGV[15],
  replica = ARGV[16], attempt = ARGV[17], state = 'waiting' }
calls[id] = call
setField('calls', id .. ':b', ARGV[19])
local function enterLane()
  local kept = takeKeptPlace(call.fingerprint, call.principal)
  call.sequence = kept or nextSequence()
  local blocker = runningRival(call) or waitingRival(call)
  local startsAtOnce = not kept and not blocker and worker.offering and
    not lackingFor(call.pool, call.lane, tally())
  if startsAtOnce then
    reserve(call)
    return
  end
  insertWaiting(call, blocker)
  setDue('a|' .. call.replica, worker.now + replicaSilent)
  enter(call, 'waiting', worker.now)
  if not blocker then addReady(call) end
  if kept then startWhatCan() end
end
if call.pool ~= 'n' then enterLane()
elseif worker.offering then reserve(call)
else
  setDue('a|' .. call.replica, worker.now + replicaSilent)
  enter(call, 'waiting', worker.now)
  toWaiting(call, false)
end
news[id] = nil
return finish({ 'OK', '', call.state })`,
    ].join('\n'),
  },
  tick: {
    keys: 6,
    sha1: '4a081d8c4fc54ef33a33f5b07866f7d2c50c515a',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
forget(100)
return finish({ 'OK', '' })`,
    ].join('\n'),
  },
  withdraw: {
    keys: 6,
    sha1: '35d1be2e7bb36bbc5c1402bd914642e0cd92b2a5',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      reason,
      `local refusal = begin()
if refusal then return refusal end
local call = readCall(ARGV[9])
if not call or (call.state ~= 'waiting' and call.state ~= 'reserved') then
  return finish({ 'OK', '', '0', call and call.state or '' })
end
local reply = { 'OK', '', '1', tostring(math.floor(worker.now - call.submitted)), call.principal }
tellReason(reply, call)
withdrawCall(call, ARGV[10])
if ARGV[10] == 'deadline' and call.pool ~= 'n' then keepPlace(call) end
startWhatCan()
return finish(reply)`,
    ].join('\n'),
  },
  worker: {
    keys: 6,
    sha1: '67ca3895f4a2be8957679f6c522e0d1e7fbd8dab',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      moves,
      places,
      start,
      due,
      script,
      `local refusal = begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
return finish({ 'OK', '', tostring(leaseLeft()), redis.call('HGET', workerKey, 'capabilities') })`,
    ].join('\n'),
  },
} as const;
