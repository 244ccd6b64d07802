# Writes to `noted` what it was given.
class NoteDown
  include Rage::Deferred::Task

  def perform(*arguments, **keywords)
    Rage.logger.info("noting down")
    values = arguments.map { |one| "#{one.inspect} #{one.encoding if one.is_a?(String)}" }
    pairs = keywords.map { |key, value| "#{key.inspect} #{value.inspect}" }
    File.write(Rage.root.join("noted"), [*values, *pairs, Thread.current[:tenant]].join("\n"))
  end
end
