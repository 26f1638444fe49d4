--[[
  Takes in an incarnation of a worker, or what changed of the present one. What it says it holds counts as
  running from here on; of what it fetched and does not list it is asked (unresolved).
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] incarnation   ARGV[10] journal   ARGV[11] capabilities (JSON)   ARGV[12] slots   ARGV[13] file pool
  ARGV[14] capacities: LANE=N, separated by commas   ARGV[15] '1' to take over   ARGV[16] the unknown principal
  ARGV[17] the lanes that the worker has closed (JSON)   ARGV[18] registration
  ARGV[19..] seven for each held call: id, lane, mode, pool, generation, token, 'setup' or ''
  Returns { 'OK', due, unresolved ids… }, { 'WORKER_FENCED' } or { 'LAYOUT', '', layout }.
]]
--- @include "script"
--- @include "rebuild"
local refusal = store.begin()
if refusal then return refusal end

local incarnation, journal = ARGV[9], ARGV[10]
local sameJournal = worker.journal == journal
if worker.known and not sameJournal and store.isOnline() and ARGV[15] ~= '1' then
  return store.finish({ 'WORKER_FENCED', '' })
end

local sameIncarnation = worker.incarnation == incarnation
local irregular = worker.capacities ~= ARGV[14]
worker.known = true
worker.incarnation = incarnation
worker.journal = journal
redis.call('HSET', workerKey, 'layout', layout, 'capabilities', ARGV[11], 'registration', ARGV[18])
store.keepQuarantined(ARGV[17])
store.lookAtHistory()
worker.slots = tonumber(ARGV[12])
worker.files = tonumber(ARGV[13])
worker.capacities = ARGV[14]
worker.heard = worker.now
capacityOf = nil

if not sameIncarnation then store.loseScripts() end

-- Only the journal that fetched a call can tell what became of it.
for id, hold in pairs(store.loadHeld()) do
  local call = store.readCall(id)
  if hold.phase == 'r' then
    if not sameIncarnation then store.toWaiting(call, false) end
  elseif not sameJournal then
    if store.leaseOf(call) then store.interruptCall(call, 'another worker took over from the one that ran this call')
    else store.release(hold) end
  else
    local terms = store.termsOf(hold)
    terms.unresolved, terms.told = '1', '0'
    store.saveHold(hold)
  end
end

-- Of a call that has ended for its caller the lane is still occupied, but its end stands. A call that began
-- before this Redis knew it has no caller any more: it is to be stopped. A setup never had one, and goes on.
local function takeOverHold(id, lane, mode, pool, generation, token, operation)
  local present = store.holdOf(id)
  if present and present.phase == 'l' and store.termsOf(present).token == token then
    store.termsOf(present).unresolved = '0'
    store.saveHold(present)
    return
  end
  -- Nothing of it is held any more: that the pause was taken has not reached the worker yet.
  local call = store.readCall(id)
  if store.wasPausedUnder(call, token) then return end
  irregular = true
  worker.generation = math.max(worker.generation, tonumber(generation))
  local live = call and not ended[call.state]
  if present and not store.leaseOf(call) and present.phase == 'l' then store.release(present) end
  if live then
    -- It was started in seconds that this Redis has lost.
    if not store.leaseOf(call) then store.noteStart(call) end
    store.leave(call)
  end
  local goesOn = live or not call and operation == 'setup'
  local claim = live and call or { id = id, lane = lane, mode = mode, pool = pool,
    principal = operation == 'setup' and system or ARGV[16], sequence = store.nextSequence() }
  store.occupy(claim, 'l', 0)
  if claim.principal == system and not store.hasSetup(lane) then store.setupBegan(lane) end
  local hold = store.holdOf(id)
  local terms = store.termsOf(hold)
  terms.generation, terms.token, terms.stop = generation, token, goesOn and '0' or '1'
  store.saveHold(hold)
  store.setDue(id, worker.now + leaseTtl)
  if live then store.toRunning(call) return end
  if not goesOn then somethingToFetch = true end
  if call then return end
  store.enter({ id = id, submitted = worker.now, started = worker.now, revision = -1, sequence = claim.sequence, lane = lane, mode = mode,
    pool = pool, principal = claim.principal, fingerprint = '', operation = operation, replica = '', attempt = '',
    pause = '' },
    goesOn and 'running' or 'cancelling', worker.now)
end

for at = 19, #ARGV, 7 do takeOverHold(unpack(ARGV, at, at + 6)) end
if irregular then
  touched = {}
  store.rebuild()
end
store.offerWithheld()
stirred = true
store.startWhatCan()

local reply = { 'OK', '' }
for id, hold in pairs(store.loadHeld()) do
  if hold.phase == 'l' and store.termsOf(hold).unresolved == '1' then reply[#reply + 1] = id end
end
return store.finish(reply)
