-- Lanes are paths whose every segment ends in '/', so that one lies within another when it begins with it.
local function lanesOverlap(one, other)
  if #one > #other then one, other = other, one end
  return string.sub(other, 1, #one) == one
end

-- The lane itself and every lane above it, from the root down.
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
end
