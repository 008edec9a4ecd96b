-- Withdrawals with references of their own, keys and destinations in turn.
-- wrk ... -- <name> <file of keys> <file of destinations>

local heads, destinations, name = {}, {}, nil
local count = 0

local function lines(path)
  local all = {}
  for line in io.lines(path) do all[#all + 1] = line end
  return all
end

function init(args)
  name = args[1]
  for i, key in ipairs(lines(args[2])) do
    heads[i] = "POST " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.host .. ":" .. wrk.port ..
      "\r\nAuthorization: Bearer " .. key ..
      "\r\nContent-Type: application/json\r\nContent-Length: "
  end
  destinations = lines(args[3])
end

function request()
  count = count + 1
  local body = '{"amount":"10.25","currency":"USDT","network":"TRX","destination":"' ..
    destinations[count % #destinations + 1] .. '","referenceId":"' .. name .. "-" .. count .. '"}'
  return heads[count % #heads + 1] .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    'RESULT {"answers":%d,"refused":%d,"broken":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"max":%.3f}',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3))
end
