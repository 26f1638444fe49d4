--- @include "calls"
--- @include "lanes"
-- What occupies lanes and pools: reserved calls ('r') and leases ('l'). It is the one truth of what runs; all
-- that is counted is counted from it, each time.
local held
-- Whether something was vacated or became able to start, so that the rule has to be asked.
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

-- The lease under which a call is in a worker's hands; a lease may outlive its call.
local function leaseOf(call)
  if call and leasedStates[call.state] then return loadHeld()[call.id] end
  return nil
end

local function runningRival(call)
  for id, hold in pairs(loadHeld()) do
    if id ~= call.id and hold.pool ~= 'n' and conflict(hold, call) then return hold.sequence end
  end
  return nil
end
