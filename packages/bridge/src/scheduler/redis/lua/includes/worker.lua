--- @include "given"
local worker = {}
-- What is told when the script ends: calls that changed, whether there is something to fetch, and the lane of a
-- command that has begun to wait.
local news, somethingToFetch, expected = {}, false, nil
-- How calls ended, for the bridges that wait for that; what is longer they ask for.
local endings, longestTold = {}, 16384

function store.clockNow()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- All that changes often is one field: a script pays for every field that it reads.
-- Time never goes back, not even when a copy of Redis with a slower clock takes over.
function store.openWorker()
  local found = redis.call('HMGET', workerKey, 'layout', 'state')
  worker.layout, worker.known = found[1], found[1] and true or false
  worker.now = store.clockNow()
  if not worker.known or worker.layout ~= layout then
    worker.heard, worker.sequence, worker.starts, worker.generation, worker.kept = 0, 0, 0, 0, 0
    worker.capacities, worker.withheld, worker.loose, worker.fetched, worker.unready = '', '', '', '', ''
    worker.scripts, worker.stops, worker.untold = '', '', ''
    worker.offering = true
    return
  end
  local seen, heard, incarnation, journal, slots, files, capacities, offering, sequence, starts, generation,
    withheld, loose, kept, fetched, unready, scripts, stops, untold = string.match(found[2],
      '^([^|]*)|([^|]*)|(%x*)|(%x*)|(%d+)|(%d+)|([^|]*)|(%d)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)|(%x*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  worker.now = math.max(worker.now, tonumber(seen))
  worker.heard, worker.incarnation, worker.journal = tonumber(heard), incarnation, journal
  worker.slots, worker.files, worker.capacities = tonumber(slots), tonumber(files), capacities
  worker.offering, worker.sequence, worker.starts = offering == '1', tonumber(sequence), tonumber(starts)
  worker.generation, worker.withheld, worker.loose = tonumber(generation), withheld, loose
  worker.kept, worker.fetched, worker.unready = tonumber(kept), fetched, unready
  worker.scripts, worker.stops, worker.untold = scripts, stops, untold
end

function store.saveWorker()
  redis.call('HSET', workerKey, 'state', table.concat({ worker.now, worker.heard,
    worker.incarnation, worker.journal, worker.slots, worker.files, worker.capacities,
    worker.offering and '1' or '0', worker.sequence, worker.starts, worker.generation, worker.withheld,
    worker.loose, worker.kept, worker.fetched, worker.unready, worker.scripts, worker.stops,
    worker.untold }, '|'))
end

function store.leaseLeft()
  return math.max(0, math.ceil(worker.heard + leaseTtl - worker.now))
end

function store.isOnline()
  return worker.known and store.leaseLeft() > 0
end

-- Places are strings of equal length, so that their order is the order of their text; each has room for one before it.
function store.nextSequence()
  worker.sequence = worker.sequence + 1
  return string.format('%012d0', worker.sequence)
end

function store.justBefore(sequence)
  return string.format('%012d5', tonumber(string.sub(sequence, 1, 12)) - 1)
end

-- Sets of ids that are nearly always empty live in one field, each id followed by a comma.
function store.addTo(field, id)
  if not string.find(worker[field], id, 1, true) then worker[field] = worker[field] .. id .. ',' end
end

function store.takeFrom(field, id)
  if worker[field] == '' then return end
  local from, to = string.find(worker[field], id .. ',', 1, true)
  if from then worker[field] = string.sub(worker[field], 1, from - 1) .. string.sub(worker[field], to + 1) end
end

function store.isIn(field, id)
  return worker[field] ~= '' and string.find(worker[field], id, 1, true) ~= nil
end

-- The code that refuses a worker which is unknown or was replaced; nil notes it as heard from.
function store.hear(incarnation)
  if not worker.known then return 'WORKER_NOT_FOUND' end
  if worker.incarnation ~= incarnation then return 'WORKER_FENCED' end
  worker.heard = worker.now
  return nil
end

-- The lanes that the worker has closed, as it last said, and when it said so.
function store.keepQuarantined(lanes)
  redis.call('HSET', workerKey, 'quarantined', lanes, 'quarantinedAt', worker.now)
end
