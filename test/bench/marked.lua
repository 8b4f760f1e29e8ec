-- Sends visits of which each has a number of its own in its query, and notes every 302 that comes back with its time.
-- wrk … -s marked.lua <url> -- <file of requests, separated by NUL, with MARKER in them> <file for what was received>

local ffi = require("ffi")
ffi.cdef("typedef struct { long seconds; long microseconds; } bench_time; int gettimeofday(bench_time *, void *);")
local clock = ffi.new("bench_time")

local function microseconds()
  ffi.C.gettimeofday(clock, nil)
  return tonumber(clock.seconds) * 1e6 + tonumber(clock.microseconds)
end

local requests = {}
local marker = 0
local received

function init(args)
  for request in io.open(args[1], "rb"):read("*a"):gmatch("%Z+") do
    local before, after = request:match("^(.-)MARKER(.*)$")
    requests[#requests + 1] = { before = before, after = after }
  end
  received = io.open(args[2], "w")
end

-- A number is never sent again, so what a server is asked twice for is told from what it records twice.
function request()
  marker = marker + 1
  local request = requests[marker % #requests + 1]
  return request.before .. marker .. request.after
end

function response(status, headers)
  if status == 302 then
    received:write(string.format("%.0f %s\n", microseconds(), headers["Location"] or headers["location"]))
  end
end

function done(summary)
  local errors = summary.errors
  io.write(string.format('{"requests":%d,"refused":%d,"broken":%d}\n',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
