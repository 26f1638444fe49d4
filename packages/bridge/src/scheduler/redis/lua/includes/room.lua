--- @include "held"
local capacityOf

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
    -- The system always counts as having none.
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

-- Which room is missing for one more call like this, or nil where there is enough.
function store.lackingFor(pool, lane, sum)
  if pool == 'f' then return sum.f >= worker.files and 'files' or nil end
  if sum.c >= worker.slots then return 'slots' end
  return store.hasFullNode(lane) and 'repository' or nil
end

-- Calls of one group find room or lack it together: file tools, or commands beneath the same capped lane.
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
end
