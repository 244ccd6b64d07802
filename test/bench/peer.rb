# frozen_string_literal: true

# What Rage does to list a store: each line is checked, undumped and loaded. Prints seconds and the number of tasks.

require "zlib"

path = File.join(ARGV.fetch(0), "deferred-dead_tasks-0")
started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
found = {}
File.open(path, "rb") do |file|
  file.each_line do |bytes|
    payload = bytes[9..-2]
    next unless bytes[0, 8] == format("%08x", Zlib.crc32(payload))
    operation, id, dumped = payload.split(":", 3)
    next unless operation == "dead_task"
    found.delete(id)
    found[id] = Marshal.load(dumped.force_encoding(Encoding::US_ASCII).undump)
  end
end
puts "#{Process.clock_gettime(Process::CLOCK_MONOTONIC) - started} #{found.size}"
