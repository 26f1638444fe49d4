--- @include "moves"
-- The place of a call that timed out in the queue: it blocks as an older waiting call, and cannot start.
function store.placeOf(member)
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

-- The place that an identical call left behind, of several the oldest.
function store.takeKeptPlace(fingerprint, principal)
  if store.nothingWaits() then return nil end
  local member = store.first('k|' .. fingerprint .. '|' .. principal .. '|')
  return member and store.dropPlace(member).sequence
end
