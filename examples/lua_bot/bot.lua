-- A bot for any game, over the bridge, written from protocol/BOT.md alone. It takes the first legal play of each request.
-- Debian packages: lua5.4 and lua-cjson.
local json = require "cjson"
io.stdout:setvbuf("line")
local function first(values)
  if values.choose then
    local some = {}
    for i = 1, values.choose do some[i] = values.of[i] end
    return some
  end
  return values[1]
end
for line in io.lines() do
  local message = json.decode(line)
  if message.type == "request" then
    local play = {}
    for key, values in pairs(message.legal[1]) do play[key] = first(values) end
    io.write(json.encode { action = { plays = { play } } }, "\n")
  end
end
