--- @include "moves"
--[[
  The one rule of admission. Of the waiting calls that can start, the one whose principal has the fewest running
  calls; among equals the oldest. What can start as far as lanes go is in the index; of each group with room only
  the oldest call of each principal can be next, and at most as many principals run something as calls run.
]]
local function nextToStart()
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
end
