# frozen_string_literal: true

# Calls methods of many forms with many arguments. Reads {"signatures": [a class's body with `perform`], "calls": [Ruby that makes
# [args, kwargs]]} as JSON, prints for each call the Marshal of its context, as Base64, and what each method says: the message of
# its ArgumentError, or null where it takes the arguments.

require "json"

Named = Class.new

def outcome(task, args, kwargs)
  task.new.perform(*args, **(kwargs || {}))
  nil
rescue ArgumentError => error
  error.message
end

input = JSON.parse($stdin.read)
tasks = input["signatures"].map { |body| Class.new { class_eval(body) } }
calls = input["calls"].map do |source|
  args, kwargs = eval(source)
  {
    context: [Marshal.dump([Named, args, kwargs, nil])].pack("m0"),
    outcomes: tasks.map { |task| outcome(task, args, kwargs) }
  }
end
print JSON.generate(calls)
