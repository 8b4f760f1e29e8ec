-- Sends the prepared requests of a file over and over, at full speed or at a given rate, and prints one line of JSON.
-- wrk … -s load.lua <url> -- <file of requests, separated by NUL> <requests a second, 0 for no limit>

local ffi = require("ffi")
ffi.cdef("typedef struct { long seconds; long microseconds; } bench_time; int gettimeofday(bench_time *, void *);")
local clock = ffi.new("bench_time")

local function microseconds()
  ffi.C.gettimeofday(clock, nil)
  return tonumber(clock.seconds) * 1e6 + tonumber(clock.microseconds)
end

local requests = {}
local position = 0
local interval = 0
local due = 0

function init(args)
  for request in io.open(args[1], "rb"):read("*a"):gmatch("%Z+") do
    requests[#requests + 1] = request
  end
  -- Connections share the thread's state, so one schedule serves all of them.
  local rate = tonumber(args[2])
  if rate == 0 then
    delay = nil
  else
    interval = 1000000 / rate
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end

-- Milliseconds until the next request of the schedule; one that is late is sent at once, and the schedule is kept.
function delay()
  local now = microseconds()
  if due == 0 then due = now end
  local wait = due - now
  due = due + interval
  if wait <= 0 then return 0 end
  return math.floor(wait / 1000)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"maxMs":%f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
