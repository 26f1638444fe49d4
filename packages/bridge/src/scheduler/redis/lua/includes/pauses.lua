--- @include "moves"
--[[
  Scripts that wait for their tools. A call that was paused has `pause`: until when its worker keeps the script ('' once
  it goes on), when it was paused, how long it had been away before and was until the rule last started it, when it
  came back to the queue, and by which attempt. Beside it, in the field id:p, stand the token of the lease, the ids of the tool
  calls and what the worker said, with `|` between them. `scripts` are the calls whose script its worker keeps; `stops` those that it is to end without a lease
  that would tell it so, and `untold` those of them that no poll has told yet.
]]
local awaiting = { paused = true, waiting = true, reserved = true }

function store.pauseOf(call)
  local untilAt, at, before, away, queued, attempt =
    string.match(call.pause, '^([^,]*),([^,]*),([^,]*),([^,]*),([^,]*),([^,]*)$')
  return untilAt and { untilAt = untilAt, at = at, before = before, away = away, queued = queued, attempt = attempt }
end

function store.notePause(call, pause)
  call.pause = table.concat({ pause.untilAt, pause.at, pause.before, pause.away, pause.queued, pause.attempt }, ',')
end

-- Whether its script does not run, and is not in the hands of its worker under a lease.
function store.isOutOfHands(call)
  return call.pause ~= '' and awaiting[call.state] == true
end

-- Whether that was the lease under which it was paused last.
function store.wasPausedUnder(call, token)
  if not call or call.pause == '' then return false end
  local told = store.callField(call.id .. ':p')
  return told and string.sub(told, 1, #token + 1) == token .. '|'
end

-- Of a body only what a later request needs is kept: it begins with that, and ends with a request or with results, in
-- which either word may come once more. Of a script that went on in seconds that this Redis has lost there is nothing else.
function store.headOfBody(body)
  local past = #body + 1
  local request = string.find(body, '"request":', 1, true) or past
  local results = string.find(body, '"results":', 1, true) or past
  return string.sub(body, 1, math.min(request, results) - 1)
end

function store.toPaused(call, token, said, keptFor)
  local before = call.pause ~= '' and store.pauseOf(call).away or 0
  store.leave(call)
  store.touch(call.sequence, nil)
  store.notePause(call, { untilAt = worker.now + keptFor, at = worker.now, before = before, away = before,
    queued = '', attempt = '' })
  -- No bridge has to live for it any more.
  call.replica = ''
  store.setField('calls', call.id .. ':p', token .. '|' .. said)
  store.setField('calls', call.id .. ':b', store.headOfBody(store.callField(call.id .. ':b')))
  store.setDue('f|' .. call.id, worker.now + keptFor)
  store.addTo('scripts', call.id)
  store.enter(call, 'paused', worker.now)
end

-- Its script goes on, or never will.
function store.endPause(call)
  local pause = store.pauseOf(call)
  if not pause then return end
  pause.untilAt = ''
  store.notePause(call, pause)
  store.dropDue('f|' .. call.id)
  store.takeFrom('scripts', call.id)
end

function store.tellToStop(call)
  store.addTo('stops', call.id)
  store.addTo('untold', call.id)
  store.setDue('s|' .. call.id, worker.now + leaseTtl)
  somethingToFetch = true
end

function store.stopForgotten(member)
  store.dropDue(member)
  store.takeFrom('stops', string.sub(member, 3))
  store.takeFrom('untold', string.sub(member, 3))
end

-- Ends a call on request whose script does not run.
function store.stopPaused(call)
  store.toEnded(call, 'settled', 'stopped|||')
  store.tellToStop(call)
end

-- Ends a call whose script does not run: it did before, so that nobody knows what came of it.
function store.interruptPaused(call, reason)
  store.interruptCall(call, reason)
  store.tellToStop(call)
end

local keptTooLong = 'the script waited for its tools, and then for its lane, for longer than a script is kept'

-- Its worker keeps a script no longer; one that it goes on with meanwhile answers by its lease.
function store.pauseEnded(member)
  store.dropDue(member)
  local call = store.readCall(string.sub(member, 3))
  if call and store.isOutOfHands(call) then store.interruptPaused(call, keptTooLong) end
end

-- A worker that has no room for a script that is to go on.
function store.refuseResumed(call)
  if call.state == 'cancelling' then store.stopPaused(call)
  elseif worker.now >= tonumber(store.pauseOf(call).untilAt) then store.interruptPaused(call, keptTooLong)
  else store.toWaiting(call, true) end
end

-- Another start of the worker has none of the scripts that the earlier one kept.
function store.loseScripts()
  for id in string.gmatch(worker.scripts, '([^,]+),') do
    local call = store.readCall(id)
    if store.isOutOfHands(call) then
      store.interruptCall(call, 'the worker was started anew while the script waited for its tools')
    end
  end
  worker.stops, worker.untold = '', ''
end
