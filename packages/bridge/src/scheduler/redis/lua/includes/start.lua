--- @include "moves"
--[[
  The one rule of admission. Of the waiting calls that can start, the one whose principal has the fewest running
  calls; among equals the oldest. What can start as far as lanes go is in the index; of each group with room only
  the oldest call of each principal can be next, and at most as many principals run something as calls run.
]]
function store.nextToStart()
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
end
