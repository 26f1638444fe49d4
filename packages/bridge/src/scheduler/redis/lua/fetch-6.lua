--[[
  Hands every reserved call of a worker over, in the order in which they started, each under a new lease, and
  tells once of each call that is to be stopped. A repeated attempt of the same fetch gives the same again.
  KEYS, ARGV[1..8]: see includes/given.lua
  ARGV[9] incarnation   ARGV[10] 256 random bits in hex: names this fetch, and its tokens come from it
  ARGV[11] registration
  Returns { 'OK', due, number of assignments, seven for each: id, generation, token, lane, mode, pool, body,
  then ids to be stopped… }, { 'WORKER_NOT_FOUND' }, { 'WORKER_FENCED' }, { 'REGISTERED_ANEW' } or
  { 'LAYOUT', '', layout }.
]]
--- @include "script"
local refusal = store.begin()
if refusal then return refusal end
local unheard = store.hear(ARGV[9])
if unheard then return store.finish({ unheard, '' }) end
-- A poll that is still open where the worker is no more must win nothing: nobody reads what it brings.
if redis.call('HGET', workerKey, 'registration') ~= ARGV[11] then return store.finish({ 'REGISTERED_ANEW', '' }) end

local seed = ARGV[10]
local function tokenOf(id)
  return redis.sha1hex(seed .. id .. '1') .. string.sub(redis.sha1hex(seed .. id .. '2'), 1, 24)
end

local repeated = worker.fetched == seed
if not worker.offering then
  worker.offering = true
  stirred = true
  store.startWhatCan()
end
local reserved, stopping = {}, {}
for id, hold in pairs(store.loadHeld()) do
  if repeated then
    if hold.phase == 'l' and store.termsOf(hold).token == tokenOf(id) then reserved[#reserved + 1] = hold end
  elseif hold.phase == 'r' then reserved[#reserved + 1] = hold end
  if hold.phase == 'l' then
    local terms = store.termsOf(hold)
    if terms.stop == '1' and terms.told == '0' then stopping[#stopping + 1] = hold end
  end
end
table.sort(reserved, function(one, other) return tonumber(one.order) < tonumber(other.order) end)

local reply = { 'OK', '', tostring(#reserved) }
for _, hold in ipairs(reserved) do
  local terms = store.termsOf(hold)
  if not repeated then
    worker.generation = worker.generation + 1
    hold.phase, terms.generation, terms.token = 'l', worker.generation, tokenOf(hold.id)
    store.saveHold(hold)
    store.setDue(hold.id, worker.now + leaseTtl)
    store.enter(store.readCall(hold.id), 'delivered', worker.now)
  end
  for _, value in ipairs({ hold.id, tostring(terms.generation), terms.token, hold.lane, hold.mode, hold.pool }) do
    reply[#reply + 1] = value
  end
  reply[#reply + 1] = store.callField(hold.id .. ':b') or ''
end
-- A poll that told of it again and again would never wait; a lost reply is made good by the next renewal.
for _, hold in ipairs(stopping) do
  store.termsOf(hold).told = '1'
  store.saveHold(hold)
  reply[#reply + 1] = hold.id
end
for id in string.gmatch(worker.untold, '([^,]+),') do reply[#reply + 1] = id end
worker.untold = ''
if #reserved > 0 then worker.fetched = seed end
-- An idle worker renews nothing: its polls are where it is noticed that Redis is another one.
if #reserved == 0 then
  store.forget(16)
  store.lookAtHistory()
end
somethingToFetch = false
return store.finish(reply)
