--- @include "due"
-- How every script begins: the refusal of a layout that is not ours, else nil, with all done that is due.
function store.begin()
  store.openWorker()
  if worker.known and worker.layout ~= layout then return { 'LAYOUT', '', worker.layout } end
  if worker.known then store.expireDue() end
  return nil
end

-- Keys end with the worker: each has an anchor that is never taken out, so that no key loses its time to live.
function store.keepKeys()
  if worker.kept > 0 and worker.now - worker.kept < keysKept / 4 then return end
  worker.kept = worker.now
  redis.call('HSET', callsKey, '-', '')
  redis.call('HSET', heldKey, '-', '')
  redis.call('ZADD', indexKey, 0, '-')
  redis.call('ZADD', dueKey, '+inf', '-')
  redis.call('ZADD', endedKey, '+inf', '-')
  local keepUntil = tonumber(redis.call('HGET', workerKey, 'keepUntil') or 0)
  local keptFor = math.ceil(math.max(keysKept, keepUntil - worker.now))
  for _, key in ipairs({ workerKey, callsKey, heldKey, indexKey, dueKey, endedKey }) do
    redis.call('PEXPIRE', key, keptFor)
  end
end

-- How every script ends: writes what is gathered, tells what changed, and says when something is due next and what
-- calls were lost meanwhile.
function store.finish(reply)
  if not worker.known then return reply end
  store.flush()
  store.keepKeys()
  store.saveWorker()
  local at = store.nextDueAt()
  local due = at == math.huge and '' or tostring(math.max(0, at - worker.now))
  reply[2] = due .. losses
  for _, told in ipairs(endings) do redis.call('PUBLISH', channel .. ':' .. told[1], told[2]) end
  if somethingToFetch or expected or next(news) then
    local told = { due, somethingToFetch and '*' or '' }
    for id, state in pairs(news) do told[#told + 1] = id .. ':' .. state end
    if expected then told[#told + 1] = '>' .. expected end
    redis.call('PUBLISH', channel, table.concat(told, ' '))
  end
  return reply
end
