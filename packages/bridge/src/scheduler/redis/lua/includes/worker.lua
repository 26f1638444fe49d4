--- @include "given"
local worker, workerChanges = {}, {}
-- What is told when the script ends: calls that changed, and whether there is something to fetch.
local news, somethingToFetch = {}, false

function store.put(field, value)
  worker[field] = value
  workerChanges[field] = value
end

function store.clockNow()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Time never goes back, not even when a copy of Redis with a slower clock takes over.
function store.openWorker()
  local found = redis.call('HMGET', workerKey, 'layout', 'seen', 'heard', 'incarnation', 'journal', 'slots',
    'files', 'capacities', 'offering', 'sequence', 'starts', 'generation', 'withheld', 'loose', 'kept', 'fetched')
  worker.layout = found[1]
  worker.known = found[1] and true or false
  worker.now = math.max(store.clockNow(), tonumber(found[2] or 0))
  worker.heard = tonumber(found[3] or 0)
  worker.incarnation, worker.journal = found[4], found[5]
  worker.slots, worker.files = tonumber(found[6] or 0), tonumber(found[7] or 0)
  worker.capacities = found[8] or ''
  worker.offering = found[9] ~= '0'
  worker.sequence, worker.starts = tonumber(found[10] or 0), tonumber(found[11] or 0)
  worker.generation = tonumber(found[12] or 0)
  worker.withheld, worker.loose = found[13] or '', found[14] or ''
  worker.kept = tonumber(found[15] or 0)
  worker.fetched = found[16]
end

function store.leaseLeft()
  return math.max(0, math.ceil(worker.heard + leaseTtl - worker.now))
end

function store.isOnline()
  return worker.known and store.leaseLeft() > 0
end

function store.setOffering(offering)
  worker.offering = offering
  workerChanges.offering = offering and '1' or '0'
end

-- Places are strings of equal length, so that their order is the order of their text.
function store.nextSequence()
  store.put('sequence', worker.sequence + 1)
  return string.format('%012d', worker.sequence)
end

-- Sets of ids that are nearly always empty live in one field, each id followed by a comma.
function store.addTo(field, id)
  if not string.find(worker[field], id, 1, true) then store.put(field, worker[field] .. id .. ',') end
end

function store.takeFrom(field, id)
  if worker[field] == '' then return end
  local from, to = string.find(worker[field], id .. ',', 1, true)
  if from then store.put(field, string.sub(worker[field], 1, from - 1) .. string.sub(worker[field], to + 1)) end
end

function store.isIn(field, id)
  return worker[field] ~= '' and string.find(worker[field], id, 1, true) ~= nil
end

-- The code that refuses a worker which is unknown or was replaced; nil notes it as heard from.
function store.hear(incarnation)
  if not worker.known then return 'WORKER_NOT_FOUND' end
  if worker.incarnation ~= incarnation then return 'WORKER_FENCED' end
  store.put('heard', worker.now)
  return nil
end
