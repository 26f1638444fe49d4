--- @include "moves"
-- The place of a call that timed out in the queue: it blocks as an older waiting call, and cannot start.
local function placeOf(member)
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

-- The place that an identical call left behind, of several the oldest.
local function takeKeptPlace(fingerprint, principal)
  local member = first('k|' .. fingerprint .. '|' .. principal .. '|')
  return member and dropPlace(member).sequence
end
