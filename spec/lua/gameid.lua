-- Reads and writes the IDs and numbers of SPEC.md. For Lua 5.1 to 5.4 and
-- LuaJIT. It makes no new IDs, and reads no public IDs: Lua has no AES.
--
-- What can fail returns nil, a message, and the name that SPEC.md gives the error.
-- All numbers are below 2^53, so doubles hold them: no 64-bit integer is needed.

local gameid = {}

local EPOCH = 1735689600 -- 2025-01-01T00:00:00Z in Unix seconds
local MAX_MILLIS = 17592186044415
local MAX_SERVER = 1048575
local MAX_NUMBER = 999999999999999

local ID = {}
ID.__index = ID

-- The first 40 characters of what a stranger may have written.
local function quote(value)
  local text = tostring(value)
  local head = text:sub(1, 40):gsub("[^ -~]", function(c) return ("\\x%02x"):format(c:byte()) end)
  return '"' .. head .. '"' .. (#text > 40 and "..." or "")
end

-- Returns value, as an integer if this Lua has them, or nothing.
local function integer(value, least, most)
  if type(value) == "number" and value >= least and value <= most and value == math.floor(value) then
    return math.floor(value)
  end
end

local function outside(name, value, least, most)
  return ("%s is %s, want an integer from %d to %.0f"):format(name, quote(value), least, most)
end

-- Puts an ID together.
function gameid.from_fields(millis, server, sequence)
  local m, s, q = integer(millis, 0, MAX_MILLIS), integer(server, 1, MAX_SERVER), integer(sequence, 0, 65535)
  if not m then return nil, outside("millis", millis, 0, MAX_MILLIS), "time" end
  if not s then return nil, outside("server", server, 1, MAX_SERVER), "server" end
  if not q then return nil, outside("sequence", sequence, 0, 65535), "sequence" end
  return setmetatable({millis = m, server = s, sequence = q}, ID)
end

-- Reads a string of 10 bytes.
function gameid.from_bytes(bytes)
  if type(bytes) ~= "string" or #bytes ~= 10 then
    return nil, ("an ID has 10 bytes, not %s"):format(type(bytes) == "string" and #bytes or type(bytes)), "length"
  end
  local a, b, c, d, e, f, g, h, i, j = bytes:byte(1, 10)
  local low = f % 16
  local millis = a * 68719476736 + b * 268435456 + c * 1048576 + d * 4096 + e * 16 + (f - low) / 16
  return gameid.from_fields(millis, low * 65536 + g * 256 + h, i * 256 + j)
end

-- Reads 20 hexadecimal digits.
function gameid.parse(text)
  if type(text) ~= "string" then
    return nil, ("the text of an ID is a string, not a %s"):format(type(text)), "length"
  end
  local wrong = text:sub(1, 20):find("[^0-9a-fA-F]")
  if wrong then
    return nil, ("%s is not an ID: character %d is not a hexadecimal digit"):format(quote(text), wrong), "digit"
  end
  if #text ~= 20 then
    return nil, ("%s is not an ID: it has %d characters, want 20"):format(quote(text), #text), "length"
  end
  return gameid.from_bytes((text:gsub("..", function(digits) return string.char(tonumber(digits, 16)) end)))
end

-- The 20 digits.
function ID:__tostring()
  local low = self.millis % 16777216
  return ("%05x%06x%05x%04x"):format((self.millis - low) / 16777216, low, self.server, self.sequence)
end

-- The 10 bytes, as a string.
function ID:bytes()
  return (tostring(self):gsub("..", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- The time in Unix milliseconds, and as text.
function ID:unix_millis()
  return EPOCH * 1000 + self.millis
end

function ID:time()
  local ms = self.millis % 1000
  return os.date("!%Y-%m-%dT%H:%M:%S", math.floor(EPOCH + (self.millis - ms) / 1000)) .. (".%03dZ"):format(ms)
end

-- Less than, equal to or greater than 0. IDs also compare with <, <= and ==.
function gameid.compare(a, b)
  if a.millis ~= b.millis then return a.millis < b.millis and -1 or 1 end
  if a.server ~= b.server then return a.server < b.server and -1 or 1 end
  if a.sequence ~= b.sequence then return a.sequence < b.sequence and -1 or 1 end
  return 0
end

function ID.__eq(a, b) return gameid.compare(a, b) == 0 end
function ID.__lt(a, b) return gameid.compare(a, b) < 0 end
function ID.__le(a, b) return gameid.compare(a, b) <= 0 end

local DAMM = {
  [0] = "0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
  "3674209581", "5869720134", "8945362017", "9438617205", "2581436790",
}

local function left(n)
  local row = 0
  for digit in ("%.0f"):format(n):gmatch("%d") do
    row = tonumber(DAMM[row]:sub(digit + 1, digit + 1))
  end
  return row
end

-- A space, a hyphen, and four more of Unicode, as UTF-8.
local GAPS = {" ", "-", "\194\160", "\226\128\137", "\226\128\175", "\226\128\145"}

local function gap_at(text, at)
  for _, gap in ipairs(GAPS) do
    if text:sub(at, at + #gap - 1) == gap then return #gap end
  end
end

-- Reads a short number as people type it, without looking at a check digit.
function gameid.parse_number(text)
  local function bad(code, message)
    return nil, ("%s is not a number: %s"):format(quote(text), message), code
  end
  if type(text) ~= "string" then return bad("form", "want a string") end
  local digits, gap, at = "", true, 1 -- a gap may not come first
  while at <= #text do
    local digit = text:match("^[0-9]", at)
    local width = not digit and not gap and gap_at(text, at)
    if digit then
      digits, gap, at = digits .. digit, false, at + 1
      if #digits > 15 then return bad("long", "it has more than 15 digits") end
      if digits == "0" then return bad("zero", "it begins with 0") end
    elseif width then
      gap, at = true, at + width
    else
      return bad("form", "want digits, with single spaces or hyphens between them")
    end
  end
  if gap then return bad("form", "want digits at its end") end
  return tonumber(digits)
end

-- Whether the last digit of n is its check digit.
function gameid.is_checked(n)
  return n > 9 and left(n) == 0
end

-- parse_number for numbers with a check digit.
function gameid.parse_checked(text)
  local n, message, code = gameid.parse_number(text)
  if n and not gameid.is_checked(n) then
    return nil, quote(text) .. " is mistyped: its last digit does not fit the others", "mistyped"
  end
  return n, message, code
end

-- Returns n with its check digit at the end.
function gameid.with_check(n)
  local most = (MAX_NUMBER - 9) / 10
  local whole = integer(n, 1, most)
  if not whole then return nil, outside("a number without its check digit", n, 1, most), "range" end
  return 10 * whole + left(whole)
end

-- Returns the digits of n in groups of three.
function gameid.spaced(n)
  local text = ("%.0f"):format(n):reverse():gsub("(%d%d%d)", "%1 ")
  return (text:reverse():gsub("^ ", ""))
end

return gameid
