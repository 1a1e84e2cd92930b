# frozen_string_literal: true

# A bot for Samurai and Samurai Gardener. The numbers (§) are those of protocol/SPEC.md.

require "ffi-rzmq"
require "msgpack"

# What both games have in common: chance, time, and the products in `legal`.
class Player
  def initialize(start)
    @seat = start["seat"]
    @options = start["options"]
    @random = Random.new(start["bot_seed"]) # §8.3: from the seed, and from nothing else
  end

  # The plays for a request, and a note about them.
  def decide(request)
    @view, @legal = request.values_at("view", "legal")
    @deadline = now + request["clock"]["limit_ms"] / 2000.0 # half of it: an emergency brake for slow machines
    send("decide_#{request["kind"]}")
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # All plays that a product stands for.
  def expand(product)
    heads, *tails = product.values
    heads.product(*tails).map { |values| product.keys.zip(values).to_h }
  end

  def any(product) = product.transform_values { |values| values.sample(random: @random) }

  # The play with the highest score, with its score; chance decides among equal ones.
  def best(plays)
    scored = []
    plays.shuffle(random: @random).each do |play|
      break if scored.any? && now > @deadline

      scored << [play, yield(play)]
    end
    scored.max_by(&:last)
  end
end

# Samurai: place the tile that gets ahead of the others at most pieces.
class Samurai < Player
  CASTES = %w[buddha rice castle].freeze
  IDLE = { "switch" => -0.5, "move" => -1.0 }.freeze # rather than a placement that makes others a present

  def initialize(start)
    super
    @spaces = start["board"]["spaces"]
    @seats = start["seats"]
  end

  private

  def decide_hand
    choose, tiles = @legal[0]["hand"].values_at("choose", "of")
    [[{ hand: tiles.shuffle(random: @random).max_by(choose) { |tile| value(tile) } }], "the strongest tiles"]
  end

  def decide_setup = [[any(@legal.sample(random: @random))], nil]

  # One play is always an answer (§8.5-5).
  def decide_turn
    look
    placings, others = @legal.partition { |product| product.key?("space") && !product.key?("with") }
    plays = placings.flat_map { |product| expand(product) } + others.map { |product| any(product) }
    play, gain = best(plays) { |candidate| IDLE.fetch(candidate["tile"]) { placing(candidate) } }
    [[play], format("gain %.1f", gain)]
  end

  def value(tile) = tile[/\d/].to_i

  def castes(tile) = CASTES.select { |caste| tile.start_with?(caste) }.then { |own| own.empty? ? CASTES : own }

  def neighbours(space) = @spaces[space]["neighbours"]

  def land?(space) = @spaces[space]["kind"] == "land"

  # Who has which influence where, as the view shows it.
  def look
    @influence = Hash.new { |totals, key| totals[key] = Array.new(@seats, 0) }
    @view["tiles"].each do |space, seat, tile|
      neighbours(space).each do |near|
        castes(tile).each { |caste| @influence[[near, caste]][seat] += value(tile) }
      end
    end
    @covered = @view["tiles"].to_h { |space, *| [space, true] }
  end

  # What a placement brings at all the pieces beside it; a small tile is the cheaper one.
  def placing(play)
    tile, space = play.values_at("tile", "space")
    neighbours(space).sum(-0.1 * value(tile)) do |settlement|
      castes(tile).sum do |caste|
        @view["pieces"][caste].include?(settlement) ? lead(tile, space, settlement, caste) : 0
      end
    end
  end

  # At one piece: whoever leads when the last land is covered has it, until then a lead is a beginning.
  def lead(tile, space, settlement, caste)
    totals = @influence[[settlement, caste]]
    rival = totals.each_with_index.reject { |_, seat| seat == @seat }.map(&:first).max
    before = totals[@seat] <=> rival
    after = totals[@seat] + value(tile) <=> rival
    closing?(space, settlement) ? 5 * after : after - before
  end

  def closing?(space, settlement)
    land?(space) && neighbours(settlement).all? { |near| near == space || !land?(near) || @covered[near] }
  end
end

# Samurai Gardener: plant the card where its new rows bring most, and score them in the best order.
class Gardener < Player
  KINDS = %w[tatami path pond garden].freeze
  POINTS = { 3 => 1, 4 => 2, 5 => 4 }.freeze
  BONUS = [0, 0, 2, 4, 6].freeze # by the number of kinds
  SQUARES = [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]].freeze
  STEPS = { "across" => [1, 0], "down" => [0, 1] }.freeze

  def initialize(start)
    super
    @cards = start["board"]["cards"]
  end

  private

  # The card with most squares whose feature cards are face up.
  def decide_seize
    open = @view["features"][@seat]
    play, = best(plays) { |candidate| @cards[candidate["card"]].count { |kind| open.include?(kind) } }
    [[play], nil]
  end

  def decide_plant
    @garden = @view["gardens"][@seat].each_with_object({}) { |(card, *place), seen| seen.update(lay(card, *place)) }
    play, worth = best(plays) { |candidate| planting(candidate) }
    [[play], format("worth %.1f", worth)]
  end

  # Rows of a view can be sent back as they are.
  def decide_score
    points, rows = scoring(@view["rows"][@seat].first(6), @view["features"][@seat])
    [rows, "#{points} points"]
  end

  def plays = @legal.flat_map { |product| expand(product) }

  # The squares that a card covers, with their kinds.
  def lay(card, left, top, turned)
    kinds = turned ? @cards[card].reverse : @cards[card]
    SQUARES.map { |x, y| [left + x, top + y] }.zip(kinds).to_h
  end

  # The points that a planting brings now; a pair is a beginning, and a line of six is none.
  def planting(play)
    card = lay(@view["taken"][@seat], *play["at"], play["turned"])
    lines = lines(@garden.merge(card), card.keys)
    rows = lines.select { |line| POINTS.key?(line["length"]) }
    pairs = lines.count { |line| line["length"] == 2 }
    long = lines.count { |line| line["length"] > 5 }
    points(rows) + 0.1 * pairs - 0.5 * long
  end

  # All lines through these squares. What a card covers was no part of a row: so every row through it is new.
  def lines(garden, squares)
    STEPS.flat_map do |along, step|
      squares.map { |square| line(garden, square, along, *step) }
    end.uniq
  end

  def line(garden, square, along, right, down)
    kind = garden[square]
    x, y = square
    x, y = x - right, y - down while garden[[x - right, y - down]] == kind
    length = 1
    length += 1 while garden[[x + right * length, y + down * length]] == kind
    { "at" => [x, y], "along" => along, "kind" => kind, "length" => length }
  end

  # One value for all seats, or one for each.
  def features? = @options["features"].split(",").then { |values| values[@seat % values.size] == "on" }

  def points(rows)
    return scoring(rows.first(6), @view["features"][@seat]).first if features?

    rows.sum { |row| POINTS[row["length"]] } + BONUS[rows.map { |row| row["kind"] }.uniq.size]
  end

  # The most points that rows can bring, and the rows in that order. Six rows have few enough orders to try them all.
  def scoring(rows, open, kinds = [])
    rows.select { |row| open.include?(row["kind"]) }.map do |row|
      left = open - [row["kind"]]
      points, order = scoring(rows - [row], left.empty? ? KINDS : left, kinds | [row["kind"]])
      [points + POINTS[row["length"]], [row, *order]]
    end.push([BONUS[kinds.size], []]).max_by(&:first)
  end
end

# The session: it says hello, and answers what it is asked until it is told that it is over.
class Session
  PLAYERS = { "samurai" => Samurai, "gardener" => Gardener }.freeze

  def initialize(endpoint, token)
    @context = ZMQ::Context.new
    @socket = @context.socket(ZMQ::DEALER)
    @socket.setsockopt(ZMQ::LINGER, 0)
    check(@socket.connect(endpoint))
    # Text from the environment may have another encoding, and would then not be a msgpack string.
    say(type: "hello", token: token.dup.force_encoding("UTF-8"), protocol: "1.0", name: "stranger", version: "1.0",
        want: %w[view legal])
  end

  # The status to end with.
  def run
    loop do
      message = hear
      case message["type"]
      when "game_start" then start(message)
      when "request" then answer(message)
      when "goodbye" then return 0
      when "error"
        warn "#{message["code"]}: #{message["message"]}"
        return 1
      end # welcome, game_over, and what later versions bring: nothing to do (§5.3-5)
    end
  ensure
    @socket.close
    @context.terminate
  end

  private

  def start(message)
    player = PLAYERS[message["rules"]]
    return say(type: "error", code: "x_unknown_rules", message: message["rules"]) unless player

    @player = player.new(message)
    say(type: "ready", game: message["game"])
  end

  def answer(request)
    plays, note = @player.decide(request)
    say(type: "action", id: request["id"], action: { plays: plays }, note: note)
  end

  def say(message) = check(@socket.send_string(message.to_msgpack))

  def hear
    frame = +""
    check(@socket.recv_string(frame))
    MessagePack.unpack(frame)
  end

  def check(code)
    return if ZMQ::Util.resultcode_ok?(code)

    raise "ZeroMQ: #{ZMQ::Util.error_string}"
  end
end

exit Session.new(ENV.fetch("ARENA_ENDPOINT"), ENV.fetch("ARENA_TOKEN")).run if $PROGRAM_NAME == __FILE__
