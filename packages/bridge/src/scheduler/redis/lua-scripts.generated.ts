// Made by scripts/build-lua.mjs from lua/*.lua. Do not edit.

const given = `local ARGV = ARGV
local workerKey, callsKey, heldKey = KEYS[1], KEYS[2], KEYS[3]
local indexKey, dueKey, endedKey = KEYS[4], KEYS[5], KEYS[6]
local channel = ARGV[2]
local leaseTtl, fetchWithin, placeKept = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local endRemembered, replicaSilent, keysKept = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local layout = '2'
local store = {}`;

const worker = `local worker = {}
local news, somethingToFetch, expected = {}, false, nil
local endings, longestTold = {}, 16384
function store.clockNow()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
function store.openWorker()
  local found = redis.call('HMGET', workerKey, 'layout', 'state')
  worker.layout, worker.known = found[1], found[1] and true or false
  worker.now = store.clockNow()
  if not worker.known or worker.layout ~= layout then
    worker.heard, worker.sequence, worker.starts, worker.generation, worker.kept = 0, 0, 0, 0, 0
    worker.capacities, worker.withheld, worker.loose, worker.fetched, worker.unready = '', '', '', '', ''
    worker.scripts, worker.stops, worker.untold = '', '', ''
    worker.offering = true
    return
  end
  local seen, heard, incarnation, journal, slots, files, capacities, offering, sequence, starts, generation,
    withheld, loose, kept, fetched, unready, scripts, stops, untold = string.match(found[2],
      '^([^|]*)|([^|]*)|(%x*)|(%x*)|(%d+)|(%d+)|([^|]*)|(%d)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)|(%x*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  worker.now = math.max(worker.now, tonumber(seen))
  worker.heard, worker.incarnation, worker.journal = tonumber(heard), incarnation, journal
  worker.slots, worker.files, worker.capacities = tonumber(slots), tonumber(files), capacities
  worker.offering, worker.sequence, worker.starts = offering == '1', tonumber(sequence), tonumber(starts)
  worker.generation, worker.withheld, worker.loose = tonumber(generation), withheld, loose
  worker.kept, worker.fetched, worker.unready = tonumber(kept), fetched, unready
  worker.scripts, worker.stops, worker.untold = scripts, stops, untold
end
function store.saveWorker()
  redis.call('HSET', workerKey, 'state', table.concat({ worker.now, worker.heard,
    worker.incarnation, worker.journal, worker.slots, worker.files, worker.capacities,
    worker.offering and '1' or '0', worker.sequence, worker.starts, worker.generation, worker.withheld,
    worker.loose, worker.kept, worker.fetched, worker.unready, worker.scripts, worker.stops,
    worker.untold }, '|'))
end
function store.leaseLeft()
  return math.max(0, math.ceil(worker.heard + leaseTtl - worker.now))
end
function store.isOnline()
  return worker.known and store.leaseLeft() > 0
end
function store.nextSequence()
  worker.sequence = worker.sequence + 1
  return string.format('%012d0', worker.sequence)
end
function store.justBefore(sequence)
  return string.format('%012d5', tonumber(string.sub(sequence, 1, 12)) - 1)
end
function store.addTo(field, id)
  if not string.find(worker[field], id, 1, true) then worker[field] = worker[field] .. id .. ',' end
end
function store.takeFrom(field, id)
  if worker[field] == '' then return end
  local from, to = string.find(worker[field], id .. ',', 1, true)
  if from then worker[field] = string.sub(worker[field], 1, from - 1) .. string.sub(worker[field], to + 1) end
end
function store.isIn(field, id)
  return worker[field] ~= '' and string.find(worker[field], id, 1, true) ~= nil
end
function store.hear(incarnation)
  if not worker.known then return 'WORKER_NOT_FOUND' end
  if worker.incarnation ~= incarnation then return 'WORKER_FENCED' end
  worker.heard = worker.now
  return nil
end
function store.keepQuarantined(lanes)
  redis.call('HSET', workerKey, 'quarantined', lanes, 'quarantinedAt', worker.now)
end`;

const pending = `local fieldsOf, goneOf = { calls = {}, held = {} }, { calls = {}, held = {} }
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
function store.callField(field)
  if goneOf.calls[field] then return false end
  return fieldsOf.calls[field] or redis.call('HGET', callsKey, field)
end
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
end`;

const calls = `local calls = {}
local ended = { settled = true, withdrawn = true, interrupted = true }
local durable = '!'
local durableEndKept = 86400000
local system = 'system'
function store.endKept(call)
  return call.replica == durable and durableEndKept or endRemembered
end
function store.readCall(id)
  if calls[id] then return calls[id] end
  local text = store.callField(id)
  if not text then return nil end
  local state, since, submitted, started, revision, sequence, lane, mode, pool, principal, fingerprint, operation, replica,
    attempt, pause = string.match(text,
      '^(%a+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|(%d*)|([^|]*)|(%a)|(%a)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  local call = { id = id, state = state, since = since, submitted = submitted, started = started, revision = revision,
    sequence = sequence, lane = lane, mode = mode, pool = pool, principal = principal, fingerprint = fingerprint,
    operation = operation, replica = replica, attempt = attempt, pause = pause }
  if ended[call.state] and tonumber(call.since) + store.endKept(call) <= worker.now then return nil end
  calls[id] = call
  return call
end
function store.boundOf(call)
  return call.operation == 'setup' and call.attempt or ''
end
function store.writeCall(call)
  calls[call.id] = call
  store.setField('calls', call.id, table.concat({ call.state, call.since, call.submitted, call.started, call.revision, call.sequence,
    call.lane, call.mode, call.pool, call.principal, call.fingerprint, call.operation, call.replica, call.attempt, call.pause },
    '|'))
end
function store.enter(call, state, since)
  call.state, call.since, call.revision = state, since, call.revision + 1
  store.writeCall(call)
  news[call.id] = state == 'waiting' and call.pause ~= '' and 'resumed' or state
end
local losses = ''
function store.noteLoss(how, call)
  losses = losses .. ' ' .. how .. ':' .. call.operation
end
function store.forget(limit)
  local ids = redis.call('ZRANGEBYSCORE', endedKey, '-inf', worker.now, 'LIMIT', 0, limit)
  for _, id in ipairs(ids) do
    store.dropField('calls', id)
    store.dropField('calls', id .. ':e')
    store.dropField('calls', id .. ':b')
    calls[id] = nil
  end
  if #ids > 0 then redis.call('ZREM', endedKey, unpack(ids)) end
end`;

const lanes = `function store.lanesOverlap(one, other)
  if #one > #other then one, other = other, one end
  return string.sub(other, 1, #one) == one
end
function store.nodesTo(lane)
  local nodes, at = {}, string.find(lane, '/', 1, true)
  while at do
    nodes[#nodes + 1] = string.sub(lane, 1, at)
    at = string.find(lane, '/', at + 1, true)
  end
  return nodes
end
function store.conflict(one, other)
  return (one.mode == 'x' or other.mode == 'x') and store.lanesOverlap(one.lane, other.lane)
end`;

const held = `local held
local known = {}
local stirred = false
function store.parseHold(id, text)
  local phase, order, lane, mode, pool, principal, sequence, rest =
    string.match(text, '^(%a)|(%d+)|([^|]*)|(%a)|(%a)|([^|]*)|(%d*)|(.*)$')
  return { id = id, phase = phase, order = order, lane = lane, mode = mode, pool = pool, principal = principal,
    sequence = sequence, rest = rest }
end
function store.holdOf(id)
  if held then return held[id] end
  if known[id] == nil then
    local text = redis.call('HGET', heldKey, id)
    known[id] = text and store.parseHold(id, text) or false
  end
  return known[id] or nil
end
function store.loadHeld()
  if held then return held end
  held = {}
  local flat = redis.call('HGETALL', heldKey)
  for at = 1, #flat, 2 do
    local id = flat[at]
    if id ~= '-' and known[id] == nil then held[id] = store.parseHold(id, flat[at + 1]) end
  end
  for id, hold in pairs(known) do held[id] = hold or nil end
  return held
end
function store.noteHold(id, hold)
  if held then held[id] = hold else known[id] = hold or false end
end
function store.termsOf(hold)
  if not hold.terms then
    local generation, token, unresolved, told, stop = string.match(hold.rest, '^(%d+)|(%x*)|(%d)|(%d)|(%d)$')
    hold.terms = { generation = generation, token = token, unresolved = unresolved, told = told, stop = stop }
  end
  return hold.terms
end
function store.saveHold(hold)
  store.noteHold(hold.id, hold)
  local terms = hold.terms
  if terms then
    hold.rest = table.concat({ terms.generation, terms.token, terms.unresolved, terms.told, terms.stop }, '|')
  end
  store.setField('held', hold.id, table.concat({ hold.phase, hold.order, hold.lane, hold.mode, hold.pool,
    hold.principal, hold.sequence, hold.rest }, '|'))
end
function store.vacate(id)
  store.noteHold(id, nil)
  store.dropField('held', id)
  store.dropDue(id)
  stirred = true
end
function store.occupy(call, phase, order)
  store.saveHold({ id = call.id, phase = phase, order = order, lane = call.lane, mode = call.mode, pool = call.pool,
    principal = call.principal, sequence = call.sequence, rest = '0||0|0|0' })
end
local leasedStates = { delivered = true, running = true, cancelling = true }
function store.leaseOf(call)
  if call and leasedStates[call.state] then return store.holdOf(call.id) end
  return nil
end
function store.runningRival(call)
  for id, hold in pairs(store.loadHeld()) do
    if id ~= call.id and hold.pool ~= 'n' and store.conflict(hold, call) then return hold.sequence end
  end
  return nil
end`;

const room = `local capacityOf
function store.capacities()
  if capacityOf then return capacityOf end
  capacityOf = {}
  for lane, commands in string.gmatch(worker.capacities, '([^=,]+)=(%d+)') do capacityOf[lane] = tonumber(commands) end
  return capacityOf
end
function store.tally()
  local sum = { c = 0, f = 0, n = 0, principals = {}, distinct = 0 }
  for _, hold in pairs(store.loadHeld()) do
    sum[hold.pool] = sum[hold.pool] + 1
    if hold.pool ~= 'n' and hold.principal ~= system then
      local before = sum.principals[hold.principal]
      if not before then sum.distinct = sum.distinct + 1 end
      sum.principals[hold.principal] = (before or 0) + 1
    end
  end
  return sum
end
function store.commandsWithin(node)
  local commands = 0
  for _, hold in pairs(store.loadHeld()) do
    if hold.pool == 'c' and string.sub(hold.lane, 1, #node) == node then commands = commands + 1 end
  end
  return commands
end
function store.hasFullNode(lane)
  if worker.capacities == '' then return false end
  for _, node in ipairs(store.nodesTo(lane)) do
    local most = store.capacities()[node]
    if most and store.commandsWithin(node) >= most then return true end
  end
  return false
end
function store.lackingFor(pool, lane, sum)
  if pool == 'f' then return sum.f >= worker.files and 'files' or nil end
  if sum.c >= worker.slots then return 'slots' end
  return store.hasFullNode(lane) and 'repository' or nil
end
function store.groupOf(call)
  if call.pool == 'f' then return 'f' end
  if worker.capacities == '' then return 'c' end
  local deepest = ''
  for _, node in ipairs(store.nodesTo(call.lane)) do
    if store.capacities()[node] then deepest = node end
  end
  return 'c' .. deepest
end
function store.groupsWithRoom(sum)
  local groups = {}
  if sum.f < worker.files then groups[1] = 'f' end
  if sum.c >= worker.slots then return groups end
  groups[#groups + 1] = 'c'
  if worker.capacities ~= '' then
    for node in pairs(store.capacities()) do
      if not store.hasFullNode(node) then groups[#groups + 1] = 'c' .. node end
    end
  end
  return groups
end`;

const waiting = `function store.within(prefix, ...)
  return redis.call('ZRANGEBYLEX', indexKey, '[' .. prefix, '(' .. prefix .. '\\255', ...)
end
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
function store.hasSetup(lane)
  return worker.unready ~= '' and string.find(worker.unready, ' ' .. lane .. ' ', 1, true) ~= nil
end
function store.holdingMembers(lane, place)
  local members = {}
  for index, node in ipairs(store.nodesTo(lane)) do members[index] = 'x|' .. node .. '|' .. place end
  return members
end
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
  return redis.call('ZLEXCOUNT', indexKey, '[' .. prefix, '(' .. prefix .. '\\255')
end
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
function store.removeReady(call, members)
  members = members or {}
  local ready, head, group = store.readyMembers(call)
  members[#members + 1] = head
  members[#members + 1] = ready
  redis.call('ZREM', indexKey, unpack(members))
  local after = store.first('r|' .. group .. '|' .. call.principal .. '|')
  if after then store.addMembers({ 'H|' .. group .. '|' .. store.placeIn(after) .. '|' .. call.principal }) end
end`;

const history = `local sentAgainFor, onTheWayFor = 60000, 10000
local anotherSince
function store.lookAtHistory()
  if anotherSince then return anotherSince end
  local told = redis.pcall('INFO', 'replication')
  local name = type(told) == 'string' and string.match(told, 'master_replid:(%x+)')
  if not name then return nil end
  local known, since = string.match(redis.call('HGET', workerKey, 'history') or '', '^(%x+)|(%d*)$')
  if known ~= name then
    since = known and math.max(store.clockNow(), worker.now) or ''
    redis.call('HSET', workerKey, 'history', name .. '|' .. since)
  end
  anotherSince = since
  return since
end
function store.mayHaveRun(call)
  local since = store.lookAtHistory()
  if not since then return call.replica == durable end
  local cameBefore = call.replica == durable and sentAgainFor or onTheWayFor
  return since ~= '' and tonumber(call.submitted) < since + cameBefore
end`;

const moves = `local touched = {}
function store.touch(sequence, line)
  touched[#touched + 1] = { sequence, line }
end
function store.reconsider()
  while #touched > 0 do
    local look = table.remove(touched)
    if look[1] then store.departed(look[1]) end
    if look[2] then store.evaluate(look[2]) end
  end
end
function store.leave(call)
  if call.state == 'waiting' then
    store.takeFrom('withheld', call.id)
    if call.pool == 'n' then
      store.takeFrom('loose', call.id)
      redis.call('ZREM', indexKey, store.ownedBy(call), store.sharedBy(call))
    else store.removeWaiting(call) end
  elseif call.state == 'reserved' or store.leaseOf(call) then store.vacate(call.id) end
end
function store.expectReplica(call)
  local replica = call.replica
  if replica == '' then return end
  if replica == durable then
    store.setDue('d|' .. call.id, tonumber(call.attempt))
    return
  end
  local member = 'a|' .. replica
  if dueAt[member] or redis.call('ZSCORE', dueKey, member) then return end
  local silentSince = call.state == 'reserved' and tonumber(call.since) or worker.now
  store.setDue(member, math.max(silentSince + replicaSilent, worker.now + replicaSilent / 2))
end
function store.toWaiting(call, withheld)
  store.leave(call)
  store.expectReplica(call)
  if withheld then store.addTo('withheld', call.id) end
  if call.pool == 'n' then
    store.addTo('loose', call.id)
    store.addMembers({ store.ownedBy(call), store.sharedBy(call) })
  else
    store.insertWaiting(call)
    store.touch(call.sequence, store.lineOf(call))
  end
  store.enter(call, 'waiting', call.pause == '' and call.submitted or store.pauseOf(call).queued)
end
function store.noteStart(call)
  local pause = store.pauseOf(call)
  if pause then
    pause.away = pause.before + worker.now - pause.at
    store.notePause(call, pause)
  else call.started = worker.now end
end
function store.reserve(call)
  worker.starts = worker.starts + 1
  store.occupy(call, 'r', worker.starts)
  store.setDue(call.id, worker.now + fetchWithin)
  somethingToFetch = true
  store.noteStart(call)
  store.enter(call, 'reserved', worker.now)
end
function store.toRunning(call)
  store.endPause(call)
  store.enter(call, 'running', worker.now)
end
function store.toReserved(call)
  store.leave(call)
  if call.pool ~= 'n' then store.touch(nil, store.lineOf(call)) end
  store.reserve(call)
end
function store.holdBackRivals(entry)
  for _, member in ipairs(store.within('r|')) do
    local sequence, id = store.placeIn(member)
    local other = sequence > entry.sequence and store.readCall(id)
    if other and store.conflict(other, entry) and not (other.mode == 's' and store.hasSetup(entry.lane)) then
      store.removeReady(other)
      store.addMembers({ 'b|' .. entry.sequence .. '|' .. store.lineOf(other) })
    end
  end
end
function store.setupBegan(lane)
  worker.unready = (worker.unready == '' and ' ' or worker.unready) .. lane .. ' '
  for _, member in ipairs(store.within('X|' .. lane .. '|')) do
    local sequence, id = store.placeIn(member)
    redis.call('ZREM', indexKey, unpack(store.holdingMembers(lane, sequence .. '|' .. id)))
    store.touch(sequence, nil)
  end
end
function store.setupEnded(lane)
  local from, to = string.find(worker.unready, ' ' .. lane .. ' ', 1, true)
  if not from then return end
  worker.unready = string.sub(worker.unready, 1, from) .. string.sub(worker.unready, to + 1)
  if worker.unready == ' ' then worker.unready = '' end
  for _, member in ipairs(store.within('X|' .. lane .. '|')) do
    local sequence, id = store.placeIn(member)
    store.addMembers(store.holdingMembers(lane, sequence .. '|' .. id))
    store.holdBackRivals({ sequence = sequence, lane = lane, mode = 'x' })
  end
end
function store.toEnded(call, state, ending)
  local waited = call.state == 'waiting'
  store.leave(call)
  if call.principal == system then store.setupEnded(call.lane) end
  if call.pool ~= 'n' then store.touch(call.sequence, waited and store.lineOf(call) or nil) end
  if call.pause ~= '' then
    store.endPause(call)
    store.dropField('calls', call.id .. ':p')
  end
  store.setField('calls', call.id .. ':e', ending)
  if call.replica == durable then store.dropDue('d|' .. call.id)
  else store.dropField('calls', call.id .. ':b') end
  endedAt[call.id] = worker.now + store.endKept(call)
  if call.replica ~= '' and call.replica ~= durable and #ending <= longestTold then
    endings[#endings + 1] = { call.replica, call.id .. ' ' .. ending }
  end
  store.enter(call, state, worker.now)
end
function store.withdrawCall(call, why, waited)
  store.toEnded(call, 'withdrawn', 'withdrawn|' .. why .. '||' .. (waited or ''))
  if why == 'deadline' then store.noteLoss('queue_timeout', call) end
end
function store.interruptCall(call, reason)
  store.toEnded(call, 'interrupted', 'interrupted|||' .. reason)
  store.noteLoss('interrupted', call)
end
function store.leaveQueue(call, why, waited)
  if store.mayHaveRun(call) then
    store.interruptCall(call, 'Redis may have come back without its last seconds, in which this call may have run')
  else store.withdrawCall(call, why, waited) end
end
function store.cancelCall(call)
  if store.isOutOfHands(call) then store.stopPaused(call)
  elseif call.state == 'waiting' or call.state == 'reserved' then store.leaveQueue(call, 'cancelled')
  elseif call.state == 'delivered' or call.state == 'running' then
    local hold = store.leaseOf(call)
    store.termsOf(hold).stop = '1'
    store.saveHold(hold)
    somethingToFetch = true
    store.enter(call, 'cancelling', call.since)
  end
end
function store.release(hold)
  store.vacate(hold.id)
  if hold.principal == system then store.setupEnded(hold.lane) end
  if hold.pool ~= 'n' then store.touch(hold.sequence, nil) end
end
function store.offerWithheld()
  if worker.withheld == '' then return end
  local ids = worker.withheld
  worker.withheld = ''
  stirred = true
  for id in string.gmatch(ids, '([^,]+),') do
    local call = store.readCall(id)
    if call.pool ~= 'n' then
      if call.mode == 's' then store.addMembers({ store.lineOf(call) .. call.sequence .. '|' .. id }) end
      store.touch(nil, store.lineOf(call))
    end
  end
end`;

const places = `function store.placeOf(member)
  local place = { id = '-', member = member }
  place.sequence, place.callId, place.since, place.lane, place.mode =
    string.match(member, '^k|[^|]*|[^|]*|(%d+)|([^|]*)|([^|]*)|([^|]*)|(%a)$')
  return place
end
function store.keepPlace(call)
  local member = table.concat({ 'k', call.fingerprint, call.principal, call.sequence, call.id, call.submitted,
    call.lane, call.mode }, '|')
  local members = store.rivalMembers(store.placeOf(member))
  members[#members + 1] = member
  store.addRival(store.placeOf(member), members)
  store.setDue(member, worker.now + placeKept)
end
function store.dropPlace(member)
  local place = store.placeOf(member)
  local members = store.rivalMembers(place)
  members[#members + 1] = member
  redis.call('ZREM', indexKey, unpack(members))
  store.dropDue(member)
  store.touch(place.sequence, place.mode == 'x' and 'X|' .. place.lane .. '|' or nil)
  return place
end
function store.takeKeptPlace(fingerprint, principal)
  if store.nothingWaits() then return nil end
  local member = store.first('k|' .. fingerprint .. '|' .. principal .. '|')
  return member and store.dropPlace(member).sequence
end`;

const reason = `local blockersShown = 5
function store.tellBlocker(reply, id, lane, state, since, principal, call)
  local operation, bound = call and call.operation or '', call and store.boundOf(call) or ''
  for _, value in ipairs({ id, lane, state, tostring(math.floor(worker.now - since)), principal, operation, bound }) do
    reply[#reply + 1] = value
  end
end
function store.tellRunning(reply, hold)
  local call = store.readCall(hold.id)
  local live = call and not ended[call.state]
  store.tellBlocker(reply, hold.id, hold.lane, 'running', call and call.since or worker.now, hold.principal,
    live and call)
end
function store.tellWaiting(reply, sequence, id)
  if id == '-' then
    for _, member in ipairs(store.within('k|')) do
      local place = store.placeOf(member)
      if place.sequence == sequence then
        local principal = string.match(member, '^k|[^|]*|([^|]*)|')
        store.tellBlocker(reply, place.callId, place.lane, 'waiting', place.since, principal)
      end
    end
    return
  end
  local call = store.readCall(id)
  store.tellBlocker(reply, id, call.lane, 'waiting', call.since, call.principal, call)
end
function store.runningRivals(call)
  local rivals = {}
  for _, hold in pairs(store.loadHeld()) do
    if hold.pool ~= 'n' and store.conflict(hold, call) then rivals[#rivals + 1] = hold end
  end
  table.sort(rivals, function(one, other) return one.sequence < other.sequence end)
  return rivals
end
function store.waitingRivals(call, most)
  local places = {}
  for _, list in ipairs(store.rivalLists(call)) do
    for _, member in ipairs(store.within(list, 'LIMIT', 0, most)) do
      local sequence, id = store.placeIn(member)
      if sequence < call.sequence then places[#places + 1] = { sequence, id } end
    end
  end
  table.sort(places, function(one, other) return one[1] < other[1] end)
  return places
end
function store.tellReason(reply, call)
  if call.pool == 'n' or call.state ~= 'waiting' then
    reply[#reply + 1] = '1'
    reply[#reply + 1] = ''
    return
  end
  local older = redis.call('ZLEXCOUNT', indexKey, '[q|', '(q|' .. call.sequence)
  reply[#reply + 1] = tostring(older + 1)
  reply[#reply + 1] = store.lackingFor(call.pool, call.lane, store.tally()) or ''
  local shown = 0
  for _, hold in ipairs(store.runningRivals(call)) do
    if shown == blockersShown then return end
    store.tellRunning(reply, hold)
    shown = shown + 1
  end
  for _, place in ipairs(store.waitingRivals(call, blockersShown)) do
    if shown == blockersShown then return end
    store.tellWaiting(reply, place[1], place[2])
    shown = shown + 1
  end
end`;

const pauses = `local awaiting = { paused = true, waiting = true, reserved = true }
function store.pauseOf(call)
  local untilAt, at, before, away, queued, attempt =
    string.match(call.pause, '^([^,]*),([^,]*),([^,]*),([^,]*),([^,]*),([^,]*)$')
  return untilAt and { untilAt = untilAt, at = at, before = before, away = away, queued = queued, attempt = attempt }
end
function store.notePause(call, pause)
  call.pause = table.concat({ pause.untilAt, pause.at, pause.before, pause.away, pause.queued, pause.attempt }, ',')
end
function store.isOutOfHands(call)
  return call.pause ~= '' and awaiting[call.state] == true
end
function store.wasPausedUnder(call, token)
  if not call or call.pause == '' then return false end
  local told = store.callField(call.id .. ':p')
  return told and string.sub(told, 1, #token + 1) == token .. '|'
end
function store.headOfBody(body)
  local past = #body + 1
  local request = string.find(body, '"request":', 1, true) or past
  local results = string.find(body, '"results":', 1, true) or past
  return string.sub(body, 1, math.min(request, results) - 1)
end
function store.toPaused(call, token, said, keptFor)
  local before = call.pause ~= '' and store.pauseOf(call).away or 0
  store.leave(call)
  store.touch(call.sequence, nil)
  store.notePause(call, { untilAt = worker.now + keptFor, at = worker.now, before = before, away = before,
    queued = '', attempt = '' })
  call.replica = ''
  store.setField('calls', call.id .. ':p', token .. '|' .. said)
  store.setField('calls', call.id .. ':b', store.headOfBody(store.callField(call.id .. ':b')))
  store.setDue('f|' .. call.id, worker.now + keptFor)
  store.addTo('scripts', call.id)
  store.enter(call, 'paused', worker.now)
end
function store.endPause(call)
  local pause = store.pauseOf(call)
  if not pause then return end
  pause.untilAt = ''
  store.notePause(call, pause)
  store.dropDue('f|' .. call.id)
  store.takeFrom('scripts', call.id)
end
function store.tellToStop(call)
  store.addTo('stops', call.id)
  store.addTo('untold', call.id)
  store.setDue('s|' .. call.id, worker.now + leaseTtl)
  somethingToFetch = true
end
function store.stopForgotten(member)
  store.dropDue(member)
  store.takeFrom('stops', string.sub(member, 3))
  store.takeFrom('untold', string.sub(member, 3))
end
function store.stopPaused(call)
  store.toEnded(call, 'settled', 'stopped|||')
  store.tellToStop(call)
end
function store.interruptPaused(call, reason)
  store.interruptCall(call, reason)
  store.tellToStop(call)
end
local keptTooLong = 'the script waited for its tools, and then for its lane, for longer than a script is kept'
function store.pauseEnded(member)
  store.dropDue(member)
  local call = store.readCall(string.sub(member, 3))
  if call and store.isOutOfHands(call) then store.interruptPaused(call, keptTooLong) end
end
function store.refuseResumed(call)
  if call.state == 'cancelling' then store.stopPaused(call)
  elseif worker.now >= tonumber(store.pauseOf(call).untilAt) then store.interruptPaused(call, keptTooLong)
  else store.toWaiting(call, true) end
end
function store.loseScripts()
  for id in string.gmatch(worker.scripts, '([^,]+),') do
    local call = store.readCall(id)
    if store.isOutOfHands(call) then
      store.interruptCall(call, 'the worker was started anew while the script waited for its tools')
    end
  end
  worker.stops, worker.untold = '', ''
end`;

const start = `function store.nextToStart()
  if store.nothingWaits() then return nil end
  local sum = store.tally()
  local best
  for _, group in ipairs(store.groupsWithRoom(sum)) do
    local heads = emptyGroups[group] and {} or store.within('H|' .. group .. '|', 'LIMIT', 0, sum.distinct + 1)
    if #heads == 0 then emptyGroups[group] = true end
    for _, member in ipairs(heads) do
      local sequence, principal = store.placeIn(member)
      local runs = sum.principals[principal] or 0
      if not best or runs < best.runs or (runs == best.runs and sequence < best.sequence) then
        best = { runs = runs, sequence = sequence, principal = principal, group = group }
      end
      if runs == 0 then break end
    end
  end
  if not best then return nil end
  local member = store.first('r|' .. best.group .. '|' .. best.principal .. '|')
  local _, id = store.placeIn(member)
  return store.readCall(id)
end
function store.startWhatCan()
  store.reconsider()
  if not worker.offering then return end
  for id in string.gmatch(worker.loose, '([^,]+),') do
    if not store.isIn('withheld', id) then store.toReserved(store.readCall(id)) end
  end
  while stirred do
    local call = store.nextToStart()
    if not call then
      stirred = false
      return
    end
    store.toReserved(call)
    store.reconsider()
  end
end`;

const due = `function store.reservationLapsed(call)
  worker.offering = false
  store.toWaiting(call, false)
end
function store.leaseEnded(hold)
  local call = store.readCall(hold.id)
  if call and store.leaseOf(call) then
    store.interruptCall(call, 'the worker was not heard from until the lease of this call had ended')
  else store.release(hold) end
end
function store.replicaGone(replica)
  for id, hold in pairs(store.loadHeld()) do
    if hold.phase == 'r' then
      local call = store.readCall(id)
      if call.replica == replica then store.leaveQueue(call, 'caller_gone') end
    end
  end
  local prefix = 'o|' .. replica .. '|'
  for _, member in ipairs(store.within(prefix)) do
    store.leaveQueue(store.readCall(string.sub(member, #prefix + 1)), 'caller_gone')
  end
end
function store.deadlinePassed(member)
  store.dropDue(member)
  local call = store.readCall(string.sub(member, 3))
  if call and (call.state == 'waiting' or call.state == 'reserved') then
    local waited = { tostring(math.floor(worker.now - call.submitted)) }
    store.tellReason(waited, call)
    store.leaveQueue(call, 'deadline', cjson.encode(waited))
  end
end
function store.becomesDue(member)
  local kind = string.sub(member, 1, 2)
  if kind == 'k|' then store.dropPlace(member)
  elseif kind == 'a|' then
    store.dropDue(member)
    store.replicaGone(string.sub(member, 3))
  elseif kind == 'd|' then store.deadlinePassed(member)
  elseif kind == 'f|' then store.pauseEnded(member)
  elseif kind == 's|' then store.stopForgotten(member)
  else
    local hold = store.holdOf(member)
    if not hold then store.dropDue(member)
    elseif hold.phase == 'r' then store.reservationLapsed(store.readCall(member))
    else store.leaseEnded(hold) end
  end
  store.startWhatCan()
end
local earliestMember, earliestAt
function store.lookForDue()
  local earliest = redis.call('ZRANGE', dueKey, 0, 0, 'WITHSCORES')
  earliestMember, earliestAt = earliest[1], tonumber(earliest[2] or math.huge)
end
function store.nextDueAt()
  local at = earliestAt
  if not earliestMember or dueGone[earliestMember] or dueAt[earliestMember] then at = nil end
  for _, set in pairs(dueAt) do at = at and math.min(at, set) end
  store.flushDue()
  if at then return at end
  store.lookForDue()
  return earliestAt
end
function store.expireDue()
  local now = worker.now
  store.lookForDue()
  while earliestAt <= now do
    worker.now = earliestAt
    store.becomesDue(earliestMember)
    store.flushDue()
    store.lookForDue()
  end
  worker.now = now
end`;

const script = `function store.begin()
  store.openWorker()
  if worker.known and worker.layout ~= layout then return { 'LAYOUT', '', worker.layout } end
  if worker.known then store.expireDue() end
  return nil
end
function store.keepKeys()
  if worker.kept > 0 and worker.now - worker.kept < keysKept / 4 then return end
  worker.kept = worker.now
  redis.call('HSET', callsKey, '-', '')
  redis.call('HSET', heldKey, '-', '')
  redis.call('ZADD', indexKey, 0, '-')
  redis.call('ZADD', dueKey, '+inf', '-')
  redis.call('ZADD', endedKey, '+inf', '-')
  local keepUntil = tonumber(redis.call('HGET', workerKey, 'keepUntil') or 0)
  local keptFor = math.ceil(math.max(keysKept, keepUntil - worker.now))
  for _, key in ipairs({ workerKey, callsKey, heldKey, indexKey, dueKey, endedKey }) do
    redis.call('PEXPIRE', key, keptFor)
  end
end
function store.finish(reply)
  if not worker.known then return reply end
  store.flush()
  store.keepKeys()
  store.saveWorker()
  local at = store.nextDueAt()
  local due = at == math.huge and '' or tostring(math.max(0, at - worker.now))
  reply[2] = due .. losses
  for _, told in ipairs(endings) do redis.call('PUBLISH', channel .. ':' .. told[1], told[2]) end
  if somethingToFetch or expected or next(news) then
    local told = { due, somethingToFetch and '*' or '' }
    for id, state in pairs(news) do told[#told + 1] = id .. ':' .. state end
    if expected then told[#told + 1] = '>' .. expected end
    redis.call('PUBLISH', channel, table.concat(told, ' '))
  end
  return reply
end`;

const transitions = `local transitions = {}`;

const entering = `function store.isOutdated(pairingKey, capabilitiesId, pairing)
  return capabilitiesId and not (redis.sha1hex(redis.call('HGET', workerKey, 'capabilities')) == capabilitiesId
    and (redis.call('GET', pairingKey) or '') == pairing)
end
function store.fullBound(principal, most, mostOfOne)
  if store.countWithin('q|') < math.min(most, mostOfOne) and worker.loose == '' then return nil end
  if store.countWithin('p|') >= most then return 'queue' end
  if store.countWithin('p|' .. principal .. '|') >= mostOfOne then return 'share' end
  return nil
end
function store.newCall(replica, attempt)
  return { id = ARGV[9], since = worker.now, submitted = worker.now, started = '', revision = 0, sequence = '',
    lane = ARGV[10], mode = ARGV[11], pool = ARGV[12], principal = ARGV[13], fingerprint = ARGV[14],
    operation = ARGV[15], replica = replica, attempt = attempt, pause = '', state = 'waiting' }
end
function store.expectOwner(call)
  if call.replica == durable then store.expectReplica(call)
  else store.setDue('a|' .. call.replica, worker.now + replicaSilent) end
end
function store.enterLane(call)
  local kept = store.takeKeptPlace(call.fingerprint, call.principal)
  call.sequence = kept or store.nextSequence()
  local blocker = store.runningRival(call) or store.waitingRival(call)
  local startsAtOnce = not kept and not blocker and worker.offering and
    not store.lackingFor(call.pool, call.lane, store.tally())
  if startsAtOnce then
    store.reserve(call)
    return
  end
  store.insertWaiting(call, blocker)
  store.expectOwner(call)
  store.enter(call, 'waiting', worker.now)
  if not blocker then store.addReady(call) end
  if kept then store.startWhatCan() end
end
function store.enterQueue(call, body)
  store.forget(4)
  calls[call.id] = call
  store.setField('calls', call.id .. ':b', body)
  if call.pool ~= 'n' then store.enterLane(call)
  elseif worker.offering then store.reserve(call)
  else
    store.expectOwner(call)
    store.enter(call, 'waiting', worker.now)
    store.toWaiting(call, false)
  end
end`;

const submitTransition = `transitions['submit'] = function()
local refusal = store.begin()
if refusal then return refusal end
local id = ARGV[9]
local present = store.readCall(id)
if present then
  if present.attempt == ARGV[17] then return store.finish({ 'OK', '', present.state }) end
  return store.finish({ 'CALL_ID_TAKEN', '' })
end
if not store.isOnline() then return store.finish({ 'WORKER_OFFLINE', '' }) end
if store.isOutdated(KEYS[7], ARGV[21], ARGV[22]) then return store.finish({ 'OUTDATED', '' }) end
local bound = store.fullBound(ARGV[13], tonumber(ARGV[18]), tonumber(ARGV[19]))
if bound then return store.finish({ 'WORKER_QUEUE_FULL', '', bound }) end
local call = store.newCall(ARGV[16], ARGV[17])
store.enterQueue(call, ARGV[20])
news[id] = nil
if call.state == 'waiting' and ARGV[12] == 'c' then expected = ARGV[10] end
return store.finish({ 'OK', '', call.state })
end`;

const fetchTransition = `transitions['fetch'] = function()
local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end
if redis.call('HGET', workerKey, 'registration') ~= ARGV[11] then return store.finish({ 'REGISTERED_ANEW', '' }) end
local seed = ARGV[10]
local function tokenOf(id)
  return redis.sha1hex(seed .. id .. '1') .. string.sub(redis.sha1hex(seed .. id .. '2'), 1, 24)
end
local repeated = worker.fetched == seed
if not worker.offering then
  worker.offering = true
  stirred = true
  store.startWhatCan()
end
local reserved, stopping = {}, {}
for id, hold in pairs(store.loadHeld()) do
  if repeated then
    if hold.phase == 'l' and store.termsOf(hold).token == tokenOf(id) then reserved[#reserved + 1] = hold end
  elseif hold.phase == 'r' then reserved[#reserved + 1] = hold end
  if hold.phase == 'l' then
    local terms = store.termsOf(hold)
    if terms.stop == '1' and terms.told == '0' then stopping[#stopping + 1] = hold end
  end
end
table.sort(reserved, function(one, other) return tonumber(one.order) < tonumber(other.order) end)
local reply = { 'OK', '', tostring(#reserved) }
for _, hold in ipairs(reserved) do
  local terms = store.termsOf(hold)
  if not repeated then
    worker.generation = worker.generation + 1
    hold.phase, terms.generation, terms.token = 'l', worker.generation, tokenOf(hold.id)
    store.saveHold(hold)
    store.setDue(hold.id, worker.now + leaseTtl)
    store.enter(store.readCall(hold.id), 'delivered', worker.now)
  end
  for _, value in ipairs({ hold.id, tostring(terms.generation), terms.token, hold.lane, hold.mode, hold.pool }) do
    reply[#reply + 1] = value
  end
  reply[#reply + 1] = store.callField(hold.id .. ':b') or ''
end
for _, hold in ipairs(stopping) do
  store.termsOf(hold).told = '1'
  store.saveHold(hold)
  reply[#reply + 1] = hold.id
end
for id in string.gmatch(worker.untold, '([^,]+),') do reply[#reply + 1] = id end
worker.untold = ''
if #reserved > 0 then worker.fetched = seed end
if #reserved == 0 then
  store.forget(16)
  store.lookAtHistory()
end
somethingToFetch = false
return store.finish(reply)
end`;

const setups = `function store.firstWaitingFor(lane)
  local member = store.first('X|' .. lane .. '|')
  local first = member and store.placeIn(member)
  for id, hold in pairs(store.loadHeld()) do
    local mayWait = hold.mode == 'x' and hold.lane == lane and
      (hold.phase == 'r' or store.readCall(id) and store.readCall(id).state == 'delivered')
    if mayWait and (not first or hold.sequence < first) then first = hold.sequence end
  end
  return first
end
function store.announce(id, lane, boundMs, body)
  if store.hasSetup(lane) then return end
  local first = store.firstWaitingFor(lane)
  local call = { id = id, state = 'waiting', since = worker.now, submitted = worker.now, started = '', revision = 0,
    sequence = first and store.justBefore(first) or store.nextSequence(), lane = lane, mode = 's', pool = 'c',
    principal = system, fingerprint = '', operation = 'setup', replica = '', attempt = boundMs, pause = '' }
  store.setField('calls', id .. ':b', body)
  store.setupBegan(lane)
  store.insertWaiting(call)
  store.holdBackRivals(call)
  store.touch(nil, store.lineOf(call))
  store.enter(call, 'waiting', worker.now)
end`;

const reportTransition = `transitions['report'] = function()
local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end
local reply = { 'OK', '' }
local function started(call, token)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).token ~= token then return store.wasPausedUnder(call, token) end
  if call.state == 'delivered' then store.toRunning(call) end
  return true
end
local function busy(call, token)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).token ~= token then return end
  if call.pause ~= '' then store.refuseResumed(call)
  elseif call.state == 'delivered' then store.toWaiting(call, true)
  elseif call.state == 'cancelling' then store.withdrawCall(call, 'cancelled') end
end
local function denied(call)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).unresolved ~= '1' then return end
  if call.pause ~= '' then
    store.interruptCall(call, 'the worker was started anew while the script waited for its tools')
  elseif call.state == 'cancelling' then store.withdrawCall(call, 'cancelled')
  elseif not store.callField(call.id .. ':b') then store.withdrawCall(call, 'caller_gone')
  else store.toWaiting(call, false) end
end
local function interrupted(id, call)
  if call and store.isOutOfHands(call) then
    store.interruptCall(call, 'the worker ended the script while it waited for its tools')
    return
  end
  local hold = store.holdOf(id)
  if not call or not hold or hold.phase ~= 'l' then return end
  if store.leaseOf(call) then store.interruptCall(call, 'the worker was stopped while this call was in its hands')
  else store.release(hold) end
end
for at = 10, #ARGV, 3 do
  local said, id, token = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local call = id ~= '' and store.readCall(id) or nil
  if said ~= 'busy' and said ~= 'unready' then store.offerWithheld() end
  if said == 'started' and not started(call, token) then reply[#reply + 1] = id
  elseif said == 'busy' then busy(call, token)
  elseif said == 'denied' then denied(call)
  elseif said == 'interrupted' then interrupted(id, call)
  elseif said == 'unready' then
    local lane, boundMs, body = string.match(token, '^([^|]*)|(%d+)|(.*)$')
    store.announce(id, lane, boundMs, body)
  elseif said == 'closed' then store.keepQuarantined(token) end
end
store.startWhatCan()
return store.finish(reply)
end`;

const settleTransition = `transitions['settle'] = function()
local refusal = store.begin()
if refusal then return refusal end
store.hear(ARGV[9])
local id, token, settlement = ARGV[10], ARGV[11], ARGV[12]
local call = store.readCall(id)
local hold = worker.known and store.holdOf(id)
if not hold or store.termsOf(hold).token ~= token then
  local before = call and call.state == 'settled' and store.callField(id .. ':e')
  local same = before == 'settled|0|' .. token .. '|' .. settlement or
    before == 'settled|1|' .. token .. '|' .. settlement
  return store.finish({ 'OK', '', same and '1' or '0' })
end
local live = store.leaseOf(call)
if live then
  local cancelled = call.state == 'cancelling' and '1' or '0'
  store.toEnded(call, 'settled', 'settled|' .. cancelled .. '|' .. token .. '|' .. settlement)
else store.release(hold) end
store.offerWithheld()
store.startWhatCan()
local reply = { 'OK', '', live and '1' or '0' }
if live and call.operation ~= '' then
  local pause = store.pauseOf(call)
  local queuedMs, awayMs = call.started - call.submitted, pause and pause.away or 0
  local totalMs = worker.now - call.submitted - awayMs
  for _, value in ipairs({ call.operation, queuedMs, totalMs, pause and '1' or '0' }) do
    reply[#reply + 1] = tostring(value)
  end
end
return store.finish(reply)
end`;

const endTransition = `transitions['end'] = function()
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
local isEnded = call and ended[call.state]
local text = isEnded and store.callField(call.id .. ':e')
return store.finish({ 'OK', '', text or '' })
end`;

const callTransition = `transitions['call'] = function()
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '' }) end
local reply = { 'OK', '', call.principal, call.state, call.lane, tostring(math.floor(worker.now - call.since)),
  tostring(call.revision) }
if call.state == 'waiting' then store.tellReason(reply, call) end
return store.finish(reply)
end`;

const progressTransition = `transitions['progress'] = function()
local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '' }) end
return store.finish({ 'OK', '', call.state, ended[call.state] and store.callField(call.id .. ':e') or '' })
end`;

const requests = `local requestsKey = KEYS[7]
function store.readRequest(id)
  local text = redis.call('HGET', requestsKey, id)
  if not text then return nil end
  local callId, fingerprint, queueWait = string.match(text, '^(%x+)|(%x+)|(%d+)$')
  local call = store.readCall(callId)
  return call and { id = id, call = call, fingerprint = fingerprint, queueWait = queueWait }
end
function store.tellRequest(reply, request)
  local call = request.call
  local body = store.callField(call.id .. ':b') or ''
  for _, value in ipairs({ call.id, request.queueWait, body, call.state }) do reply[#reply + 1] = value end
  if call.state == 'waiting' then
    reply[#reply + 1] = tostring(math.floor(worker.now - call.since))
    store.tellReason(reply, call)
  elseif ended[call.state] then
    reply[#reply + 1] = store.callField(call.id .. ':e')
  end
end
function store.forgetRequest(id, call)
  redis.call('HDEL', requestsKey, id)
  if not call then return end
  for _, field in ipairs({ call.id, call.id .. ':e', call.id .. ':b' }) do store.dropField('calls', field) end
  redis.call('ZREM', endedKey, call.id)
  calls[call.id] = nil
end
function store.makeRoomForRequest(most)
  if redis.call('HLEN', requestsKey) < most then return true end
  local over, room = {}, false
  for _, id in ipairs(redis.call('HKEYS', requestsKey)) do
    local request = store.readRequest(id)
    if not request then
      store.forgetRequest(id)
      room = true
    elseif ended[request.call.state] then over[#over + 1] = request end
  end
  if room then return true end
  table.sort(over, function(one, other) return tonumber(one.call.since) < tonumber(other.call.since) end)
  for at = 1, math.min(#over, math.ceil(most / 10)) do store.forgetRequest(over[at].id, over[at].call) end
  return #over > 0
end`;

const rebuild = `function store.rebuild()
  for _, prefix in ipairs({ 'b|', 'r|', 'H|' }) do store.inChunks('ZREM', indexKey, store.within(prefix)) end
  local lines = {}
  for _, member in ipairs(store.within('X|')) do lines[string.match(member, '^(X|[^|]*|)')] = true end
  for _, member in ipairs(store.within('s|')) do lines[string.match(member, '^(s|[^|]*|%a|[^|]*|)')] = true end
  for line in pairs(lines) do store.evaluate(line) end
end`;

/** Every Lua script by name: its text, the SHA-1 of its text, and the number of its keys. */
export const luaScripts = {
  batch: {
    keys: 7,
    sha1: 'b5017ece3e8ce0534252e166791654b7ee5ad238',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      transitions,
      entering,
      submitTransition,
      fetchTransition,
      setups,
      reportTransition,
      settleTransition,
      endTransition,
      callTransition,
      progressTransition,
      `local given, finish = ARGV, store.finish
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
return replies`,
    ].join('\n'),
  },
  beat: {
    keys: 6,
    sha1: '85b2ee2400579fcd3c28dfced8f23bc56cedf915',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local waits = worker.known and store.first('o|' .. ARGV[9] .. '|')
if waits then store.setDue('a|' .. ARGV[9], worker.now + replicaSilent)
else store.dropDue('a|' .. ARGV[9]) end
return store.finish({ 'OK', '', waits and '1' or '0' })`,
    ].join('\n'),
  },
  call: {
    keys: 6,
    sha1: '2d742d803cdff0d702f84800fff83b68e0d21470',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '' }) end
local reply = { 'OK', '', call.principal, call.state, call.lane, tostring(math.floor(worker.now - call.since)),
  tostring(call.revision) }
if call.state == 'waiting' then store.tellReason(reply, call) end
return store.finish(reply)`,
    ].join('\n'),
  },
  cancel: {
    keys: 6,
    sha1: 'b1e30f36983342d5cf758cffdb4a6ab5c64bc94c',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '', '' }) end
store.cancelCall(call)
store.startWhatCan()
return store.finish({ 'OK', '', call.state })`,
    ].join('\n'),
  },
  cancelDurable: {
    keys: 7,
    sha1: 'fbb1007d4432de7821175e22b8e4a42bf59c84ba',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      entering,
      requests,
      `local refusal = store.begin()
if refusal then return refusal end
local reply = { 'OK', '' }
local request = worker.known and store.readRequest(ARGV[9])
if request then
  store.cancelCall(request.call)
  store.startWhatCan()
  store.tellRequest(reply, request)
end
return store.finish(reply)`,
    ].join('\n'),
  },
  end: {
    keys: 6,
    sha1: '93904218025caf181d2b613f1d9c3cd1bbe7d687',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
local isEnded = call and ended[call.state]
local text = isEnded and store.callField(call.id .. ':e')
return store.finish({ 'OK', '', text or '' })`,
    ].join('\n'),
  },
  fetch: {
    keys: 6,
    sha1: 'f65dfb5f209990442eccc7ae1c1b826f8eb907d0',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end
if redis.call('HGET', workerKey, 'registration') ~= ARGV[11] then return store.finish({ 'REGISTERED_ANEW', '' }) end
local seed = ARGV[10]
local function tokenOf(id)
  return redis.sha1hex(seed .. id .. '1') .. string.sub(redis.sha1hex(seed .. id .. '2'), 1, 24)
end
local repeated = worker.fetched == seed
if not worker.offering then
  worker.offering = true
  stirred = true
  store.startWhatCan()
end
local reserved, stopping = {}, {}
for id, hold in pairs(store.loadHeld()) do
  if repeated then
    if hold.phase == 'l' and store.termsOf(hold).token == tokenOf(id) then reserved[#reserved + 1] = hold end
  elseif hold.phase == 'r' then reserved[#reserved + 1] = hold end
  if hold.phase == 'l' then
    local terms = store.termsOf(hold)
    if terms.stop == '1' and terms.told == '0' then stopping[#stopping + 1] = hold end
  end
end
table.sort(reserved, function(one, other) return tonumber(one.order) < tonumber(other.order) end)
local reply = { 'OK', '', tostring(#reserved) }
for _, hold in ipairs(reserved) do
  local terms = store.termsOf(hold)
  if not repeated then
    worker.generation = worker.generation + 1
    hold.phase, terms.generation, terms.token = 'l', worker.generation, tokenOf(hold.id)
    store.saveHold(hold)
    store.setDue(hold.id, worker.now + leaseTtl)
    store.enter(store.readCall(hold.id), 'delivered', worker.now)
  end
  for _, value in ipairs({ hold.id, tostring(terms.generation), terms.token, hold.lane, hold.mode, hold.pool }) do
    reply[#reply + 1] = value
  end
  reply[#reply + 1] = store.callField(hold.id .. ':b') or ''
end
for _, hold in ipairs(stopping) do
  store.termsOf(hold).told = '1'
  store.saveHold(hold)
  reply[#reply + 1] = hold.id
end
for id in string.gmatch(worker.untold, '([^,]+),') do reply[#reply + 1] = id end
worker.untold = ''
if #reserved > 0 then worker.fetched = seed end
if #reserved == 0 then
  store.forget(16)
  store.lookAtHistory()
end
somethingToFetch = false
return store.finish(reply)`,
    ].join('\n'),
  },
  lanes: {
    keys: 6,
    sha1: 'e6c3f1238cd7bc1ea166ddaecae124b039ce2f63',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
local sum = store.tally()
local reply = { 'OK', '', tostring(store.leaseLeft()), tostring(sum.c), tostring(worker.slots), tostring(sum.f),
  tostring(worker.files) }
local closed = redis.call('HMGET', workerKey, 'quarantined', 'quarantinedAt')
reply[#reply + 1] = closed[1] or '[]'
reply[#reply + 1] = tostring(math.floor(worker.now - (closed[2] or worker.now)))
local function tell(call)
  local told = { call.id, call.state, call.lane, call.mode, call.pool, call.operation, store.boundOf(call),
    call.principal, tostring(math.floor(worker.now - call.since)) }
  if call.state == 'waiting' then store.tellReason(told, call) end
  reply[#reply + 1] = tostring(#told)
  for _, value in ipairs(told) do reply[#reply + 1] = value end
end
local running = {}
for id, hold in pairs(store.loadHeld()) do
  local call = hold.pool ~= 'n' and store.readCall(id)
  if call and (hold.phase == 'r' or store.leaseOf(call)) then running[#running + 1] = { tonumber(hold.order), call } end
end
table.sort(running, function(one, other) return one[1] < other[1] end)
for _, entry in ipairs(running) do tell(entry[2]) end
for _, member in ipairs(store.within('q|')) do
  local _, id = store.placeIn(member)
  if id ~= '-' then tell(store.readCall(id)) end
end
for id in string.gmatch(worker.scripts, '([^,]+),') do
  local call = store.readCall(id)
  if call.state == 'paused' then tell(call) end
end
return store.finish(reply)`,
    ].join('\n'),
  },
  load: {
    keys: 6,
    sha1: 'eff07696da8c7804059ae0f3621689a70546a5ff',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
local counts = { c = {}, f = {}, w = {} }
local function count(kind, id)
  local call = store.readCall(id)
  local operation = call and call.operation or ''
  counts[kind][operation] = (counts[kind][operation] or 0) + 1
end
for id, hold in pairs(store.loadHeld()) do
  if hold.pool ~= 'n' then count(hold.pool, id) end
end
for _, member in ipairs(store.within('p|')) do count('w', string.match(member, '([^|]*)$')) end
local reply = { 'OK', '', '1' }
for kind, operations in pairs(counts) do
  for operation, number in pairs(operations) do
    for _, value in ipairs({ kind, operation, tostring(number) }) do reply[#reply + 1] = value end
  end
end
return store.finish(reply)`,
    ].join('\n'),
  },
  pause: {
    keys: 6,
    sha1: 'bd8e56411920f89e9180d5576447e280273f6a64',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
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
return store.finish({ 'OK', '', accepted })`,
    ].join('\n'),
  },
  paused: {
    keys: 6,
    sha1: '851abd8d96daa3339f47a9834b08237a4d52f199',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call or call.state ~= 'paused' then return store.finish({ 'OK', '' }) end
local said = string.match(store.callField(call.id .. ':p'), '^%x+|[^|]*|(.*)$')
return store.finish({ 'OK', '', call.principal, tostring(math.floor(worker.now - call.since)), said })`,
    ].join('\n'),
  },
  progress: {
    keys: 6,
    sha1: '827fec2929e28d281bf3da7f40eeaec490327a0a',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call then return store.finish({ 'OK', '' }) end
return store.finish({ 'OK', '', call.state, ended[call.state] and store.callField(call.id .. ':e') or '' })`,
    ].join('\n'),
  },
  register: {
    keys: 6,
    sha1: 'c6566e3f68fd06d4a799966785b40bc9f6959a10',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      rebuild,
      `local refusal = store.begin()
if refusal then return refusal end
local incarnation, journal = ARGV[9], ARGV[10]
local sameJournal = worker.journal == journal
if worker.known and not sameJournal and store.isOnline() and ARGV[15] ~= '1' then
  return store.finish({ 'WORKER_FENCED', '' })
end
local sameIncarnation = worker.incarnation == incarnation
local irregular = worker.capacities ~= ARGV[14]
worker.known = true
worker.incarnation = incarnation
worker.journal = journal
redis.call('HSET', workerKey, 'layout', layout, 'capabilities', ARGV[11], 'registration', ARGV[18])
store.keepQuarantined(ARGV[17])
store.lookAtHistory()
worker.slots = tonumber(ARGV[12])
worker.files = tonumber(ARGV[13])
worker.capacities = ARGV[14]
worker.heard = worker.now
capacityOf = nil
if not sameIncarnation then store.loseScripts() end
for id, hold in pairs(store.loadHeld()) do
  local call = store.readCall(id)
  if hold.phase == 'r' then
    if not sameIncarnation then store.toWaiting(call, false) end
  elseif not sameJournal then
    if store.leaseOf(call) then store.interruptCall(call, 'another worker took over from the one that ran this call')
    else store.release(hold) end
  else
    local terms = store.termsOf(hold)
    terms.unresolved, terms.told = '1', '0'
    store.saveHold(hold)
  end
end
local function takeOverHold(id, lane, mode, pool, generation, token, operation)
  local present = store.holdOf(id)
  if present and present.phase == 'l' and store.termsOf(present).token == token then
    store.termsOf(present).unresolved = '0'
    store.saveHold(present)
    return
  end
  local call = store.readCall(id)
  if store.wasPausedUnder(call, token) then return end
  irregular = true
  worker.generation = math.max(worker.generation, tonumber(generation))
  local live = call and not ended[call.state]
  if present and not store.leaseOf(call) and present.phase == 'l' then store.release(present) end
  if live then
    if not store.leaseOf(call) then store.noteStart(call) end
    store.leave(call)
  end
  local goesOn = live or not call and operation == 'setup'
  local claim = live and call or { id = id, lane = lane, mode = mode, pool = pool,
    principal = operation == 'setup' and system or ARGV[16], sequence = store.nextSequence() }
  store.occupy(claim, 'l', 0)
  if claim.principal == system and not store.hasSetup(lane) then store.setupBegan(lane) end
  local hold = store.holdOf(id)
  local terms = store.termsOf(hold)
  terms.generation, terms.token, terms.stop = generation, token, goesOn and '0' or '1'
  store.saveHold(hold)
  store.setDue(id, worker.now + leaseTtl)
  if live then store.toRunning(call) return end
  if not goesOn then somethingToFetch = true end
  if call then return end
  store.enter({ id = id, submitted = worker.now, started = worker.now, revision = -1, sequence = claim.sequence, lane = lane, mode = mode,
    pool = pool, principal = claim.principal, fingerprint = '', operation = operation, replica = '', attempt = '',
    pause = '' },
    goesOn and 'running' or 'cancelling', worker.now)
end
for at = 19, #ARGV, 7 do takeOverHold(unpack(ARGV, at, at + 6)) end
if irregular then
  touched = {}
  store.rebuild()
end
store.offerWithheld()
stirred = true
store.startWhatCan()
local reply = { 'OK', '' }
for id, hold in pairs(store.loadHeld()) do
  if hold.phase == 'l' and store.termsOf(hold).unresolved == '1' then reply[#reply + 1] = id end
end
return store.finish(reply)`,
    ].join('\n'),
  },
  renew: {
    keys: 6,
    sha1: '224309558f7712a75a3e05d70cdc241ea3a0f4a3',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end
local reply, lost = { 'OK', '', '' }, 0
for at = 10, #ARGV, 2 do
  local hold = store.loadHeld()[ARGV[at]]
  if hold and hold.phase == 'l' and store.termsOf(hold).token == ARGV[at + 1] then store.setDue(hold.id, worker.now + leaseTtl)
  else
    lost = lost + 1
    reply[#reply + 1] = ARGV[at]
  end
end
reply[3] = tostring(lost)
for id, hold in pairs(store.loadHeld()) do
  if hold.phase == 'l' and store.termsOf(hold).stop == '1' then reply[#reply + 1] = id end
end
for id in string.gmatch(worker.stops, '([^,]+),') do reply[#reply + 1] = id end
store.lookAtHistory()
return store.finish(reply)`,
    ].join('\n'),
  },
  report: {
    keys: 6,
    sha1: 'f6b3910830c293b792727cbeefd4e70ad2d3e19f',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      setups,
      `local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end
local reply = { 'OK', '' }
local function started(call, token)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).token ~= token then return store.wasPausedUnder(call, token) end
  if call.state == 'delivered' then store.toRunning(call) end
  return true
end
local function busy(call, token)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).token ~= token then return end
  if call.pause ~= '' then store.refuseResumed(call)
  elseif call.state == 'delivered' then store.toWaiting(call, true)
  elseif call.state == 'cancelling' then store.withdrawCall(call, 'cancelled') end
end
local function denied(call)
  local hold = store.leaseOf(call)
  if not hold or store.termsOf(hold).unresolved ~= '1' then return end
  if call.pause ~= '' then
    store.interruptCall(call, 'the worker was started anew while the script waited for its tools')
  elseif call.state == 'cancelling' then store.withdrawCall(call, 'cancelled')
  elseif not store.callField(call.id .. ':b') then store.withdrawCall(call, 'caller_gone')
  else store.toWaiting(call, false) end
end
local function interrupted(id, call)
  if call and store.isOutOfHands(call) then
    store.interruptCall(call, 'the worker ended the script while it waited for its tools')
    return
  end
  local hold = store.holdOf(id)
  if not call or not hold or hold.phase ~= 'l' then return end
  if store.leaseOf(call) then store.interruptCall(call, 'the worker was stopped while this call was in its hands')
  else store.release(hold) end
end
for at = 10, #ARGV, 3 do
  local said, id, token = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local call = id ~= '' and store.readCall(id) or nil
  if said ~= 'busy' and said ~= 'unready' then store.offerWithheld() end
  if said == 'started' and not started(call, token) then reply[#reply + 1] = id
  elseif said == 'busy' then busy(call, token)
  elseif said == 'denied' then denied(call)
  elseif said == 'interrupted' then interrupted(id, call)
  elseif said == 'unready' then
    local lane, boundMs, body = string.match(token, '^([^|]*)|(%d+)|(.*)$')
    store.announce(id, lane, boundMs, body)
  elseif said == 'closed' then store.keepQuarantined(token) end
end
store.startWhatCan()
return store.finish(reply)`,
    ].join('\n'),
  },
  resume: {
    keys: 6,
    sha1: '7516c0fffeaf294077761cbc07cdeaf32c7c5856',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
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
return store.finish({ 'OK', '', 'resumed' })`,
    ].join('\n'),
  },
  settle: {
    keys: 6,
    sha1: '784a7c6112c798546ea6c096fd03659259ca3287',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
store.hear(ARGV[9])
local id, token, settlement = ARGV[10], ARGV[11], ARGV[12]
local call = store.readCall(id)
local hold = worker.known and store.holdOf(id)
if not hold or store.termsOf(hold).token ~= token then
  local before = call and call.state == 'settled' and store.callField(id .. ':e')
  local same = before == 'settled|0|' .. token .. '|' .. settlement or
    before == 'settled|1|' .. token .. '|' .. settlement
  return store.finish({ 'OK', '', same and '1' or '0' })
end
local live = store.leaseOf(call)
if live then
  local cancelled = call.state == 'cancelling' and '1' or '0'
  store.toEnded(call, 'settled', 'settled|' .. cancelled .. '|' .. token .. '|' .. settlement)
else store.release(hold) end
store.offerWithheld()
store.startWhatCan()
local reply = { 'OK', '', live and '1' or '0' }
if live and call.operation ~= '' then
  local pause = store.pauseOf(call)
  local queuedMs, awayMs = call.started - call.submitted, pause and pause.away or 0
  local totalMs = worker.now - call.submitted - awayMs
  for _, value in ipairs({ call.operation, queuedMs, totalMs, pause and '1' or '0' }) do
    reply[#reply + 1] = tostring(value)
  end
end
return store.finish(reply)`,
    ].join('\n'),
  },
  submit: {
    keys: 7,
    sha1: 'ecc5fd216e70636299630dc2d6908e3a7eda3480',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      entering,
      `local refusal = store.begin()
if refusal then return refusal end
local id = ARGV[9]
local present = store.readCall(id)
if present then
  if present.attempt == ARGV[17] then return store.finish({ 'OK', '', present.state }) end
  return store.finish({ 'CALL_ID_TAKEN', '' })
end
if not store.isOnline() then return store.finish({ 'WORKER_OFFLINE', '' }) end
if store.isOutdated(KEYS[7], ARGV[21], ARGV[22]) then return store.finish({ 'OUTDATED', '' }) end
local bound = store.fullBound(ARGV[13], tonumber(ARGV[18]), tonumber(ARGV[19]))
if bound then return store.finish({ 'WORKER_QUEUE_FULL', '', bound }) end
local call = store.newCall(ARGV[16], ARGV[17])
store.enterQueue(call, ARGV[20])
news[id] = nil
if call.state == 'waiting' and ARGV[12] == 'c' then expected = ARGV[10] end
return store.finish({ 'OK', '', call.state })`,
    ].join('\n'),
  },
  submitDurable: {
    keys: 8,
    sha1: 'be06ba9e5821ae3684c93f81ce6aa35e83a8b401',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      entering,
      requests,
      `local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'WORKER_OFFLINE', '' } end
local id, requestId = ARGV[9], ARGV[20]
local request = store.readRequest(requestId)
if request and request.fingerprint ~= ARGV[21] then return store.finish({ 'REQUEST_CONFLICT', '' }) end
if not request then
  if store.readCall(id) then return store.finish({ 'CALL_ID_TAKEN', '' }) end
  if store.isOutdated(KEYS[8], ARGV[24], ARGV[25]) then return store.finish({ 'OUTDATED', '' }) end
  store.lookAtHistory()
  local bound = store.fullBound(ARGV[13], tonumber(ARGV[17]), tonumber(ARGV[18]))
  if not bound and not store.makeRoomForRequest(tonumber(ARGV[22])) then bound = 'requests' end
  if bound then return store.finish({ 'WORKER_QUEUE_FULL', '', bound }) end
  local queueWait, lifeMs = ARGV[16], tonumber(ARGV[23])
  request = { id = requestId, fingerprint = ARGV[21], queueWait = queueWait,
    call = store.newCall(durable, worker.now + tonumber(queueWait)) }
  redis.call('HSET', requestsKey, requestId, id .. '|' .. ARGV[21] .. '|' .. queueWait)
  if redis.call('PTTL', requestsKey) < lifeMs then redis.call('PEXPIRE', requestsKey, lifeMs) end
  local keepUntil = tonumber(redis.call('HGET', workerKey, 'keepUntil') or 0)
  redis.call('HSET', workerKey, 'keepUntil', math.max(keepUntil, worker.now + lifeMs))
  worker.kept = 0
  store.enterQueue(request.call, ARGV[19])
end
local reply = { 'OK', '' }
store.tellRequest(reply, request)
return store.finish(reply)`,
    ].join('\n'),
  },
  tick: {
    keys: 6,
    sha1: 'e9963169dbeded2c528f99bf2e32188a602a90cb',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
store.forget(100)
return store.finish({ 'OK', '' })`,
    ].join('\n'),
  },
  viewDurable: {
    keys: 7,
    sha1: '06a739a9634d221474a5a3399939f8059c19dc18',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      entering,
      requests,
      `local refusal = store.begin()
if refusal then return refusal end
local reply = { 'OK', '' }
local request = worker.known and store.readRequest(ARGV[9])
if request then store.tellRequest(reply, request) end
return store.finish(reply)`,
    ].join('\n'),
  },
  withdraw: {
    keys: 6,
    sha1: 'e742432e0f58baa9e4e4494b598c2ec6911857ca',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
local call = store.readCall(ARGV[9])
if not call or (call.state ~= 'waiting' and call.state ~= 'reserved') then
  return store.finish({ 'OK', '', '0', call and call.state or '' })
end
if call.pause ~= '' then
  store.interruptPaused(call, 'the script left the queue before it could go on with what its tools had come to')
  store.startWhatCan()
  return store.finish({ 'OK', '', '0', call.state })
end
local reply = { 'OK', '', '1', tostring(math.floor(worker.now - call.submitted)), call.principal }
store.tellReason(reply, call)
if ARGV[11] == '1' then store.withdrawCall(call, ARGV[10]) else store.leaveQueue(call, ARGV[10]) end
if call.state == 'interrupted' then
  store.startWhatCan()
  return store.finish({ 'OK', '', '0', call.state })
end
if ARGV[10] == 'deadline' and call.pool ~= 'n' then store.keepPlace(call) end
store.startWhatCan()
return store.finish(reply)`,
    ].join('\n'),
  },
  worker: {
    keys: 6,
    sha1: '0bd6108463d13fb1f4ee34c07b3e59607f1c7d35',
    text: [
      given,
      worker,
      pending,
      calls,
      lanes,
      held,
      room,
      waiting,
      history,
      moves,
      places,
      reason,
      pauses,
      start,
      due,
      script,
      `local refusal = store.begin()
if refusal then return refusal end
if not worker.known then return { 'OK', '' } end
return store.finish({ 'OK', '', tostring(store.leaseLeft()), redis.call('HGET', workerKey, 'capabilities') })`,
    ].join('\n'),
  },
} as const;
