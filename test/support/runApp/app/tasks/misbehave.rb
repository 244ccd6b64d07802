class Misbehave
  include Rage::Deferred::Task

  class Refused < StandardError; end

  def perform(how)
    File.write(Rage.root.join("begun"), how)
    send(how)
  end

  private

  def refuse
    raise Refused, "the gateway refused\n\e[31mat all"
  ensure
    tidy_up
  end

  # Raises and rescues on the way out.
  def tidy_up
    raise "nothing of interest"
  rescue RuntimeError
    nil
  end

  def leave = exit(0)

  def vanish = exit!(0)

  def wait = sleep(60)

  def anonymous = raise(Class.new(StandardError), "no name")

  def binary = raise("caf\xE9 \xFF".b)

  def spread
    first = Fiber.schedule { 1 }
    second = Fiber.schedule { Fiber.pause || 2 }
    raise "only #{Fiber.await(first)}" unless Fiber.await([first, second]) == [1, 2]

    Fiber.await(Fiber.schedule { raise Refused, "in a fiber" })
  end

  def enqueue_another
    NoteDown.enqueue("later")
    vanish_after_success
  end

  def vanish_after_success
    at_exit { exit!(0) }
  end

  # As a debugger does when its session is ended.
  def leave_from_elsewhere
    Thread.new { exit }
    sleep(60)
  end

  def environment
    names = %w[DEAD_TASKS_RUN DEAD_TASKS_APPLICATION RAGE_ENV RAILS_ENV]
    File.write(Rage.root.join("noted"), names.map { |name| ENV.fetch(name, "none") }.join(" "))
  end
end
