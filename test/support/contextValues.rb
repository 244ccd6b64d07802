# frozen_string_literal: true

# Prints the Marshal of a task's context, as Base64: [task class, args, kwargs, attempts, log tags, log context, user context].
#   contextValues.rb NAME   NAME: a key of CONTEXTS

require "bigdecimal"
require "date"
require "set"

module Auditable; end
class Charge; end
class SafeBuffer < String; end
class Tags < Array; end
class Options < Hash; end
class PaymentError < StandardError; end
Money = Struct.new(:cents, :currency)
Login = Struct.new(:user, :password)

class Order
  def initialize(**values) = values.each { |name, value| instance_variable_set(:"@#{name}", value) }
end

class Blob
  def initialize(bytes) = @bytes = bytes
  def _dump(_depth) = @bytes
  def self._load(bytes) = new(bytes)
end

class Token
  def initialize(value) = @value = value
  def marshal_dump = { value: @value }
  def marshal_load(value) = @value = value
end

def cycle
  array = [1]
  hash = { up: array }
  array << hash
  array
end

CONTEXTS = {
  "types" => lambda {
    identity = {}.compare_by_identity
    identity["a"] = 1
    defaulting = Hash.new(0)
    defaulting[:a] = 1
    error = PaymentError.new("declined")
    error.set_backtrace(["app.rb:1"])
    values = [
      nil, true, :sym, :"two words", 7, 2**80, 1.5, "text", "caf\u00e9".encode("ISO-8859-1"), "plain".encode("US-ASCII"),
      "\x89PNG\r\n".b, "broken \xFF".dup.force_encoding("UTF-8"), /ab+/i, [1, 2], { a: 1 }, identity, defaulting,
      Money.new(5, :eur), Order.new(id: 7, note: "x"), Set[1, 2], 1..9, Rational(1, 3), Complex(1, -2), BigDecimal("12.5"),
      Date.new(2026, 1, 17), Time.utc(2026, 1, 17, 15, 33, 30 + Rational(469_594_818, 1_000_000_000)),
      Time.new(2026, 1, 17, 15, 33, 30, "+09:00"), Charge, Auditable, Blob.new("\x00\x01raw".b), Token.new("t"),
      SafeBuffer.new("safe"), Tags.new([1]), Options.new.merge({ b: 2 }), [3].extend(Auditable), error
    ]
    [values, nil]
  },
  "sharing" => lambda {
    user = Order.new(id: 1)
    [[{ user: user }, user, cycle], { owner: user, secret: user }]
  },
  "many" => -> { [[(1..5000).to_a, "line\n" * 300, "\x00\x01".b * 1500, "x" * 150], { [1, "deep"] => :value, "k" * 200 => 2 }] },
  "secrets" => lambda {
    shared = { pin: "s3cret-shared" }
    [
      [{ "Password" => "s3cret-1", user: { api_token: ["s3cret-2", { a: "s3cret-3" }] } }, Login.new("ada", "s3cret-4"), shared,
       Order.new(card: "s3cret-5", id: 3), { ["password", 1] => 1, { password: "s3cret-6" } => 2 }, { token: nil, n: 1 }],
      { credentials: { password: "s3cret-7", name: "ada" }, password: shared,
        ("password " + "k" * 200) => "s3cret-8" },
      [{ session_id: "s3cret-9" }, "5f3c"], { authorization: "s3cret-10" }, { cookie: "s3cret-11" }
    ]
  }
}.freeze

args, kwargs, tags, log, user = CONTEXTS.fetch(ARGV.fetch(0)).call
print [Marshal.dump([Charge, args, kwargs, 3, tags || [], log || {}, user])].pack("m0")
