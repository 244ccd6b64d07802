# frozen_string_literal: false

# Ruby's side of the Marshal tests. One JSON object a line, in and out; bytes as Base64.
#
#   marshalPeer.rb generate SEED COUNT   values: {"marshal", "dump" (String#dump of the Marshal)}
#   marshalPeer.rb special               named values: {"name", "marshal", "inspect" (null where Ruby 3.4 prints otherwise)}
#   marshalPeer.rb strings SEED COUNT    strings in every encoding: {"marshal", "inspect"}
#   marshalPeer.rb characters            all characters of UTF-8: {"unprintable": [[from, to], ...]}
#   marshalPeer.rb evaluate              reads {"literal", "marshal"}; {"same" (Marshal equal), "equal" (==), "error"}
#   marshalPeer.rb undump                reads {"dumped"}; {"bytes"}
#   marshalPeer.rb load                  reads {"marshal"}; {"again" (dumped again), "error"}
#   marshalPeer.rb call                  reads {"text" (a call of ImportCsv.enqueue), "names", "values" (Marshal of an Array: what
#                                        the names stand for), "context"}; {"same" (what is passed is what the context has), "error"}

require "bigdecimal"
require "date"
require "json"
require "set"
require "time"

Encoding.default_external = Encoding::UTF_8
Encoding.default_internal = nil
$stdin.set_encoding(Encoding::UTF_8)

module ExtA; end
module ExtB; end

class Plain
  attr_accessor :a, :b

  def ==(other)
    other.is_a?(Plain) && a == other.a && b == other.b
  end
end

class Ünïcode
  def initialize = @é = 1
  def ==(other) = other.is_a?(Ünïcode)
end

class SubString < String; end
class SubArray < Array; end
class SubHash < Hash; end
class SubRegexp < Regexp; end
class SubRange < Range; end
class SubSet < Set; end
class CustomError < StandardError; end
Pair = Struct.new(:x, :y)
Keyword = Struct.new(:cents, :ok?, keyword_init: true)

class ByMarshalDump
  attr_reader :v

  def initialize(v) = @v = v
  def marshal_dump = [@v]
  def marshal_load(dumped) = @v = dumped[0]
  def ==(other) = other.is_a?(ByMarshalDump) && v == other.v
end

class ByDump
  attr_reader :s

  def initialize(s) = @s = s
  def _dump(_depth) = @s
  def self._load(s) = new(s)
  def ==(other) = other.is_a?(ByDump) && s == other.s
end

# Values at random, all kinds of them, some shared.
class Generator
  def initialize(seed) = @random = Random.new(seed)

  def value(depth = 0)
    @pool = [] if depth == 0
    return @pool.sample(random: @random) if depth > 1 && !@pool.empty? && one_in(12)

    made = depth > 4 || one_in(3) ? leaf : container(depth + 1)
    @pool << made
    made
  end

  private

  def one_in(n) = @random.rand(n) == 0
  def pick(*options) = options.sample(random: @random)
  def list(depth) = Array.new(@random.rand(5)) { value(depth) }
  def bytes = @random.bytes(@random.rand(40))

  def text
    base = pick("", "plain", "日本語", "é🙂", "quote\" \\ \#{no} \#$x \#@y # \n\t\e\u0000", "x" * @random.rand(700), "\u2028\u200b\u0085\u007f",
                "broken \xE9 \xF0\x9F", "user#{@random.rand(9)}@example.com")
    case @random.rand(9)
    when 0 then bytes
    when 1 then bytes.force_encoding(pick("Shift_JIS", "EUC-JP", "ISO-8859-1", "Windows-1252", "UTF-16LE", "UTF-32BE", "GB18030", "Big5"))
    when 2 then "ascii".force_encoding("US-ASCII")
    when 3 then "日本é".encode("UTF-16LE")
    else base.dup
    end
  end

  def integer
    size = pick(1, 7, 8, 9, 15, 16, 17, 24, 29, 30, 31, 32, 33, 61, 62, 63, 64, 65, 200)
    (@random.rand(2**size) + pick(0, 2**size)) * pick(1, -1) + pick(-1, 0, 1)
  end

  def float
    pick(0.0, -0.0, 1.5, 1e300, 5e-324, 1e15, 1e16, 123456789.125, 1e-4, 1e-5, Float::INFINITY, -Float::INFINITY, Float::NAN, Float::MAX,
         @random.rand, @random.rand * 10**@random.rand(30), -@random.rand / 10**@random.rand(30))
  end

  def symbol = pick(:a, :b?, :c!, :d=, :+, :[]=, :"with space", :"a-b", :é, :日本, :@iv, :@@cv, :$g, :E, :encoding, :nil, :"", :"1a", :"\u2028")

  def time
    seconds = @random.rand(2**33) - 2**31
    nanoseconds = pick(0, 0, 500_000_000, 123_456_000, @random.rand(1_000_000_000))
    made = Time.at(seconds, nanoseconds, :nsec)
    pick(made.utc, made.getlocal(pick("+09:00", "-03:30", "+00:00", "+12:45")), Time.at(Rational(seconds, 7)).utc)
  end

  def date
    pick(Date.new(2026, 11, 29), Date.new(1500, 1, 1), Date.new(-4712, 1, 1), Date.new(2001, 2, 3, Date::JULIAN), Date.jd(@random.rand(5_000_000)),
         DateTime.new(2026, 1, 2, 3, 4, 5, "+09:00"), DateTime.new(1400, 1, 2, 23, 4, 5.5, "-09:30"), DateTime.now)
  end

  def decimal
    pick(BigDecimal("0"), BigDecimal("-0"), BigDecimal("NaN"), BigDecimal("Infinity"), BigDecimal("-Infinity"), BigDecimal("1.5e-30"),
         BigDecimal(@random.rand(10**20)) / 1000)
  end

  def leaf
    case @random.rand(16)
    when 0 then pick(nil, true, false)
    when 1, 2 then integer
    when 3 then float
    when 4, 5 then symbol
    when 6, 7, 8 then text
    when 9 then time
    when 10 then date
    when 11 then decimal
    when 12 then pick(Rational(integer, 7), Complex(integer, integer), Complex(1.5, -0.0), Complex(Rational(1, 3), 2))
    when 13 then pick(String, Comparable, Plain, Process::Status)
    when 14 then pick(/a/, /é/i, /x\/y/mx, /a/n, /\xff/n, /a/u, /\#{1}/, Regexp.new("\n\t/"), SubRegexp.new("s"), Regexp.new("é".encode("ISO-8859-1")))
    else pick(1..10, 1...10, (1..), (..1), "a".."c", 1.5..2.0, (nil..nil), 2**70..2**71)
    end
  end

  def hash(depth) = list(depth).to_h { |element| [pick(symbol, text, integer, element), value(depth)] }

  def container(depth)
    case @random.rand(14)
    when 0, 1, 2 then list(depth)
    when 3, 4, 5 then hash(depth)
    when 6 then Plain.new.tap { |plain| plain.a = value(depth); plain.b = pick(plain, value(depth)) }
    when 7 then Pair.new(value(depth), value(depth))
    when 8 then Keyword.new(cents: integer, ok?: value(depth))
    when 9 then Set.new(list(depth))
    when 10 then ByMarshalDump.new(value(depth))
    when 11 then ByDump.new(text)
    when 12 then error(depth)
    else odd(depth)
    end
  end

  def error(depth)
    raise CustomError, pick("boom", "two\nlines", "é")
  rescue CustomError => e
    e.instance_variable_set(:@detail, value(depth))
    e
  end

  def odd(depth)
    case @random.rand(9)
    when 0 then SubString.new(text).tap { |string| string.instance_variable_set(:@note, value(depth)) }
    when 1 then SubArray.new(list(depth)).extend(ExtA)
    when 2 then SubHash.new.merge!(hash(depth))
    when 3 then hash(depth).tap { |made| made.default = value(depth) }
    when 4 then {}.compare_by_identity.merge!(hash(depth))
    when 5 then SubRange.new(1, 2).tap { |range| range.instance_variable_set(:@note, value(depth)) }
    when 6 then list(depth).tap { |array| array << array; array << [array] }
    when 7 then text.extend(ExtA, ExtB)
    else Hash.ruby2_keywords_hash({ a: value(depth) })
    end
  end
end

def special
  cycle = Pair.new(1, nil)
  cycle.y = cycle
  set = Set[1]
  set << set
  plain = Plain.new
  plain.a = [plain, { "in" => plain }]
  sjis = "日本".encode("Shift_JIS")
  missing = (nil.foo rescue $!)
  lines = CustomError.new("a\nb")
  {
    "struct cycle" => cycle, "set" => Set[1, :a], "set cycle" => set, "empty set" => Set[], "set subclass" => SubSet[1], "plain" => Object.new,
    "array cycle" => [1].tap { |array| array << array }, "range subclass" => SubRange.new(1, 2, true), "ranges" => [(1..), (..1), (nil..nil), (1...2)],
    "exception" => CustomError.new("boom"), "no message" => CustomError.new, "empty message" => CustomError.new(""),
    "name error" => missing, "symbol message" => CustomError.new(:why), "identity" => {}.compare_by_identity.tap { |hash| hash["a".dup] = 1; hash["a".dup] = 2 },
    "identity subclass" => SubHash.new.compare_by_identity.merge!({ [1] => 2 }), "keywords" => Hash.ruby2_keywords_hash({ a: 1 }),
    "symbol encodings" => [sjis.to_sym, :é, :a, sjis, sjis.dup], "extended" => "x".dup.extend(ExtA, ExtB), OUTSIDE_ASCII => [Ünïcode, Ünïcode.new],
    "years" => [1, 999, 1000, 1899, 1900, 67_435, 67_436, 100_000, -5, -44_444].map { |year| Time.utc(year, 2, 28, 23, 59, 59) },
    "seconds of zones" => [Time.new(2026, 1, 1, 0, 0, 0, "+00:00:01"), Time.new(2026, 1, 1, 0, 0, 0, "-11:59:59")],
    "dates" => [Date.new(10**8, 1, 1), Date.new(-10**8, 1, 1), Date.new(1582, 10, 4), Date.new(1582, 10, 15), Date.new(4, 2, 29), Date.new(-1, 12, 31),
                Date.new(1900, 2, 28, Date::GREGORIAN), Date.new(1900, 2, 29, Date::JULIAN), DateTime.new(2000, 2, 29, 23, 59, 59, "-12:00")],
    "complex" => [Complex(1, -0.0), Complex(1, Float::NAN), Complex(0, -Float::INFINITY), Complex(Rational(1, 3), -2), Complex(1, Rational(-1, 3)), Complex(-0.0, 1)],
    "floats" => [1e15, 1e16, 9999999999999998.0, 123456789012345680.0, 1e-4, 9.99e-5, 5e-324, Float::MAX, 100.0, -1.25, 1e23],
    "decimals" => [BigDecimal("0"), BigDecimal("-0"), BigDecimal("NaN"), BigDecimal("-Infinity"), BigDecimal("123.456")],
    "symbols" => [:a, :a?, :a!, :a=, :"a?=", :A, :A=, :@a, :@@a, :$a, :"$1", :"$-w", :"$-", :"$", :"@1", :"@", :[], :[]=, :"[]?", :!, :!=, :!~, :"!@", :~, :"~@", :+@, :-@,
                  :"*@", :<=>, :==, :===, :"=", :=~, :"&&", :"", :"a b", :"1", :é, :日本, :"a\u0301", :"\u2028", :"a\0", :nil, :"$$", :"$_", :"$_a", :"$-é", :`, :"a?b", :"$+"],
    "regexps" => [/\//, %r{/}, /\\\//, /a\/b/, Regexp.new("\n\t\x01/"), /é\//, /a/n, /\xff/n, /a/u, /x/mix, Regexp.new("é".encode("ISO-8859-1")), Regexp.new("日".encode("Shift_JIS")), /\n/],
    "class references" => [String, Comparable, Process::Status]
  }.merge("lines" => lines)
end

# What Ruby 3.4 prints otherwise than the Ruby that may run this: hashes, and messages of several lines.
CHANGED = ["identity", "identity subclass", "keywords", "lines"].freeze

# Ruby 3.1 writes what it cannot load.
OUTSIDE_ASCII = "class outside ASCII"

def each_line_of_input = $stdin.each_line { |line| yield JSON.parse(line) }
def put(object) = puts(JSON.generate(object))
def base64(string) = [string].pack("m0")
def unbase64(string) = string.unpack1("m0")
def shown(value) = value.inspect.scrub("\u{fffd}")

# Equal, or what NaN makes unequal, or a cycle that == does not get to the end of, printed alike.
def alike?(one, other)
  one == other || printed(one) == printed(other)
rescue SystemStackError
  printed(one) == printed(other)
end

class ImportCsv
  def self.enqueue(*args, **kwargs) = [args, kwargs]
end

# Says all there is to a value, which of the objects in it are one and the same included.
class Form
  def initialize = @met = {}.compare_by_identity

  def of(value)
    case value
    when nil, true, false, Integer, Symbol, Module, Rational, Complex then return [value.class, value.inspect, value.is_a?(Symbol) && value.encoding]
    when Float then return [Float, [value].pack("G")]
    end
    return [:again, @met[value]] if @met.key?(value)

    @met[value] = @met.size
    [value.class, extensions(value), *content(value), *value.instance_variables.map { |name| [name, of(value.instance_variable_get(name))] }]
  end

  private

  def extensions(value)
    value.singleton_class.ancestors.take_while { |ancestor| ancestor != value.class }.drop(1)
  rescue TypeError
    []
  end

  def content(value)
    case value
    when String then [value.encoding, value.b]
    when Array, Struct then value.to_a.map { |element| of(element) }
    when Hash then [value.compare_by_identity?, Hash.ruby2_keywords_hash?(value), of(value.default), *value.map { |key, element| [key(key), of(element)] }]
    when Range then [value.exclude_end?, of(value.begin), of(value.end)]
    when Set then value.map { |element| of(element) }
    when Exception then [value.message]
    when Plain, ByMarshalDump, ByDump then []
    else [Marshal.dump(value)]
    end
  end

  # A Hash makes a frozen String of its own of one that is a key, which may be shared with anything. Of a broken one of wide
  # characters Ruby 3.1 reads more than there is.
  def key(key)
    return of(key) unless key.instance_of?(String)

    [key.encoding, key.encoding.name.match?(/UTF-(16|32)/) && !key.valid_encoding? ? nil : key.b]
  end
end

def printed(value) = value.inspect.b.gsub(/0x\h+/n, "")

case ARGV[0]
when "generate"
  generator = Generator.new(Integer(ARGV[1]))
  Integer(ARGV[2]).times do
    marshal = Marshal.dump(generator.value)
    put({ marshal: base64(marshal), dump: base64(marshal.dump) })
  end
when "special"
  special.each do |name, value|
    shown = Marshal.load(Marshal.dump(value)) unless name == OUTSIDE_ASCII
    inspect = CHANGED.include?(name) ? nil : (shown || value).inspect.gsub(/:0x\h{16}/, "").scrub("\u{fffd}")
    put({ name: name, marshal: base64(Marshal.dump(value)), inspect: inspect })
  end
when "strings"
  random = Random.new(Integer(ARGV[1]))
  # Ruby's releases differ in how they print UTF-16 without an end; CESU-8 has characters of six bytes.
  encodings = Encoding.list - [Encoding::CESU_8, Encoding::UTF_16, Encoding::UTF_32]
  Integer(ARGV[2]).times do |index|
    encoding = encodings[index % encodings.length]
    # Bytes that often make characters, and every so often any bytes at all.
    pool = random.rand(3) == 0 ? (0..255).to_a : [0x00, 0x0a, 0x22, 0x23, 0x24, 0x30, 0x41, 0x5c, 0x7b, 0x7f, 0x80, 0x81, 0x8e, 0x8f, 0x93, 0xa1, 0xb1, 0xd8, 0xdc, 0xe9, 0xfe]
    string = Array.new(random.rand(24)) { pool.sample(random: random) }.pack("C*").force_encoding(encoding)
    put({ marshal: base64(Marshal.dump(string)), inspect: shown(string) })
  end
when "characters"
  unprintable = [*0x80..0xd7ff, *0xe000..0x10ffff].select { |number| [number].pack("U").inspect.include?("\\") }
  put({ unprintable: unprintable.slice_when { |one, other| other != one + 1 }.map { |run| [run.first, run.last] } })
when "evaluate"
  each_line_of_input do |input|
    original = Marshal.load(unbase64(input["marshal"]))
    made = eval(input["literal"], TOPLEVEL_BINDING.dup) # rubocop:disable Security/Eval
    put({ same: Marshal.dump(made) == Marshal.dump(original), equal: alike?(made, original) })
  rescue Exception => e # rubocop:disable Lint/RescueException
    put({ error: "#{e.class}: #{e.message}" })
  end
when "undump"
  each_line_of_input { |input| put({ bytes: base64(unbase64(input["dumped"]).undump.b) }) }
when "load"
  each_line_of_input do |input|
    put({ again: base64(Marshal.dump(Marshal.load(unbase64(input["marshal"])))) })
  rescue Exception => e # rubocop:disable Lint/RescueException
    put({ error: e.class.name })
  end
when "call"
  each_line_of_input do |input|
    scope = TOPLEVEL_BINDING.dup
    values = Marshal.load(unbase64(input["values"]))
    input["names"].each_with_index { |name, index| scope.local_variable_set(name, values[index]) }
    args, kwargs = eval(input["text"], scope) # rubocop:disable Security/Eval
    context = Marshal.load(unbase64(input["context"]))
    put({ same: Form.new.of([args, kwargs]) == Form.new.of([context[1] || [], context[2] || {}]), attempts: context[3] })
  rescue Exception => e # rubocop:disable Lint/RescueException
    put({ error: "#{e.class}: #{e.message}" })
  end
else
  abort "unknown mode"
end
