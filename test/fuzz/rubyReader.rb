# frozen_string_literal: true

# What Ruby itself makes of dumped records: reads one as Base64 a line, prints a line of JSON for each: what a list shows of the
# record, or the error. It loads what it is given, so it is given no classes of consequence: the core's alone are there.

require "json"

# A claim of a billion elements must not take the machine's memory.
Process.setrlimit(Process::RLIMIT_AS, 2 << 30)

def text(value)
  value.dup.force_encoding(Encoding::UTF_8)
  [value.b].pack("m0")
end

def shown(record)
  return { refused: "not a Hash" } unless record.is_a?(Hash)

  fields = %i[task_class exception_class exception_message].to_h { |key| [key, record[key]] }
  numbers = %i[attempts enqueued_at failed_at].to_h { |key| [key, record[key]] }
  {
    texts: fields.transform_values { |value| value.is_a?(String) ? text(value) : value.class.name },
    numbers: numbers.transform_values { |value| value.is_a?(Integer) ? value.to_s : value.class.name },
    context: record[:context].is_a?(String),
    backtrace: record[:backtrace].class.name,
  }
end

$stdin.each_line(chomp: true) do |line|
  dumped = line.unpack1("m").force_encoding(Encoding::US_ASCII)
  answer =
    begin
      shown(Marshal.load(dumped.undump.b))
    rescue StandardError, NoMemoryError, SystemStackError => e
      { refused: "#{e.class}: #{e.message.b[0, 200].gsub(/[^ -~]/, "?")}" }
    end
  puts JSON.generate(answer)
end
