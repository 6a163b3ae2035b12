-- Answers the questions of the tests, a line each. See ../languages_test.go.
package.path = arg[0]:gsub("answer%.lua$", "?.lua")
local gameid = require("gameid")

local function unhex(hex)
  return (hex:gsub("..", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function hex(bytes)
  return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

local function show(id, message, code)
  if not id then return nil, message, code end
  return ("%.0f\t%d\t%d\t%s\t%s\t%s"):format(id.millis, id.server, id.sequence, hex(id:bytes()), tostring(id), id:time())
end

local function whole(n, message, code)
  if not n then return nil, message, code end
  return ("%.0f"):format(n)
end

local answers = {
  text = function(t) return show(gameid.parse(unhex(t))) end,
  bytes = function(b) return show(gameid.from_bytes(unhex(b))) end,
  fields = function(m, s, q) return show(gameid.from_fields(tonumber(m), tonumber(s), tonumber(q))) end,
  compare = function(a, b)
    a, b = gameid.parse(a), gameid.parse(b)
    local order = gameid.compare(a, b)
    assert((a < b) == (order < 0) and (a == b) == (order == 0) and (a <= b) == (order <= 0))
    return tostring(order)
  end,
  number = function(t)
    local n, message, code = gameid.parse_number(unhex(t))
    if not n then return nil, message, code end
    return ("%.0f\t%s\t%d"):format(n, gameid.spaced(n), gameid.is_checked(n) and 1 or 0)
  end,
  checked = function(t) return whole(gameid.parse_checked(unhex(t))) end,
  withcheck = function(n) return whole(gameid.with_check(tonumber(n))) end,
}

for line in io.lines() do
  local fields = {}
  for field in (line .. "\t"):gmatch("([^\t]*)\t") do fields[#fields + 1] = field end
  local answer = answers[fields[1]]
  if not answer then
    io.write("unsupported\n")
  else
    local found, message, code = answer(fields[2], fields[3], fields[4])
    if found then
      io.write("ok\t", found, "\n")
    else
      io.write("error\t", code, "\t", message, "\n")
    end
  end
end
