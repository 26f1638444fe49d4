--- @include "calls"
--- @include "lanes"
-- What occupies lanes and pools: reserved calls ('r') and leases ('l'). It is the one truth of what runs; all
-- that is counted is counted from it, each time.
local held
-- Whether something was vacated or became able to start, so that the rule has to be asked.
local stirred = false

function store.loadHeld()
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

function store.saveHold(hold)
  store.loadHeld()[hold.id] = hold
  store.setField('held', hold.id, table.concat({ hold.phase, hold.order, hold.lane, hold.mode, hold.pool, hold.principal,
    hold.sequence, hold.generation, hold.token, hold.unresolved, hold.told, hold.stop }, '|'))
end

function store.vacate(id)
  store.loadHeld()[id] = nil
  store.dropField('held', id)
  store.dropDue(id)
  stirred = true
end

function store.occupy(call, phase, order)
  store.saveHold({ id = call.id, phase = phase, order = order, lane = call.lane, mode = call.mode, pool = call.pool,
    principal = call.principal, sequence = call.sequence, generation = 0, token = '', unresolved = 0, told = 0,
    stop = 0 })
end

local leasedStates = { delivered = true, running = true, cancelling = true }

-- The lease under which a call is in a worker's hands; a lease may outlive its call.
function store.leaseOf(call)
  if call and leasedStates[call.state] then return store.loadHeld()[call.id] end
  return nil
end

function store.runningRival(call)
  for id, hold in pairs(store.loadHeld()) do
    if id ~= call.id and hold.pool ~= 'n' and store.conflict(hold, call) then return hold.sequence end
  end
  return nil
end
