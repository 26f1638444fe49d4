-- Lanes are paths whose every segment ends in '/', so that one lies within another when it begins with it.
function store.lanesOverlap(one, other)
  if #one > #other then one, other = other, one end
  return string.sub(other, 1, #one) == one
end

-- The lane itself and every lane above it, from the root down.
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
end
