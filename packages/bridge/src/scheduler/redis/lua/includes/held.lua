--- @include "calls"
--- @include "lanes"
-- What occupies lanes and pools: reserved calls ('r') and leases ('l'). It is the one truth of what runs; all
-- that is counted is counted from it, each time.
local held
-- Until all of them are needed: those that were looked for by their id, false where there is none.
local known = {}
-- Whether something was vacated or became able to start, so that the rule has to be asked.
local stirred = false

-- A hold is `what occupies` and, of a lease, `what only its worker is told`; the latter is rarely looked at.
function store.parseHold(id, text)
  local phase, order, lane, mode, pool, principal, sequence, rest =
    string.match(text, '^(%a)|(%d+)|([^|]*)|(%a)|(%a)|([^|]*)|(%d*)|(.*)$')
  return { id = id, phase = phase, order = order, lane = lane, mode = mode, pool = pool, principal = principal,
    sequence = sequence, rest = rest }
end

-- One of them, without a look at all the others.
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
  -- These may have changed since, and are not written yet.
  for id, hold in pairs(known) do held[id] = hold or nil end
  return held
end

function store.noteHold(id, hold)
  if held then held[id] = hold else known[id] = hold or false end
end

-- Of a lease: generation, token, and as '0' or '1' whether it is unresolved, told to stop, to be stopped.
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

-- The lease under which a call is in a worker's hands; a lease may outlive its call.
function store.leaseOf(call)
  if call and leasedStates[call.state] then return store.holdOf(call.id) end
  return nil
end

function store.runningRival(call)
  for id, hold in pairs(store.loadHeld()) do
    if id ~= call.id and hold.pool ~= 'n' and store.conflict(hold, call) then return hold.sequence end
  end
  return nil
end
