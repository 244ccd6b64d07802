# frozen_string_literal: true

# Runs one dead task of a Rage application inside that application: what "Run Now" and "Debug Now" start.
#
#   DEAD_TASKS_APPLICATION=/srv/shop DEAD_TASKS_RUN=/home/me/…/runs/… bundle exec ruby runDeadTask.rb
#
# DEAD_TASKS_APPLICATION is the application's root. DEAD_TASKS_RUN is a directory with `run.json`, which says what is to be
# run; `outcome.json` is written there. Exit status: 0 it succeeded, 1 it failed, 2 it was not run.
#
# Plain Ruby, 3.0 or newer, with nothing but its standard library, and none of that before the application has been booted: a
# version of `json` that was loaded earlier could be another than the one that the application's bundle asks for.
module DeadTasks
  # Why the task was not run. `kind`: `boot`, `changed` or `unreadable`.
  class NotRun < StandardError
    attr_reader :kind

    def initialize(kind, message)
      @kind = kind
      super(message)
    end
  end

  # What the editor reads. Each state is durable when `write` returns.
  class Outcome
    LONGEST_MESSAGE = 10_000
    MOST_FRAMES = 200

    def initialize(directory)
      @directory = directory
    end

    def not_run(kind, error)
      write(state: "notRun", kind: kind, failure: failure(error))
    end

    def started
      write(state: "started", at: Time.now.to_i)
    end

    def succeeded
      write(state: "succeeded")
    end

    # `error`: nil where the framework does not say what was raised.
    def failed(error)
      write(state: "failed", failure: error && failure(error))
    end

    private

    def failure(error)
      {
        # None of what this program says itself.
        class: error.is_a?(NotRun) ? nil : error.class.name && Text.plain(error.class.name),
        message: Text.plain(error.message)[0, LONGEST_MESSAGE],
        backtrace: Text.backtrace_of(error).first(MOST_FRAMES).map { |line| Text.plain(line) }
      }
    end

    def write(content)
      require "json"
      staging = File.join(@directory, "outcome.json.part")
      File.open(staging, "wb", 0o600) do |file|
        file.write(JSON.generate({ version: 1, **content }))
        file.flush
        file.fsync
      end
      File.rename(staging, File.join(@directory, "outcome.json"))
      File.open(@directory, &:fsync)
    end
  end

  module Text
    module_function

    # In UTF-8, whatever bytes it is made of.
    def plain(text)
      text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
      text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub("\uFFFD")
    end

    # For the terminal, which obeys control characters.
    def printed(text)
      plain(text).gsub(/[[:cntrl:]&&[^\n\t]]/) { |character| character.dump[1..-2] }
    end

    # Without the frames of this program.
    def backtrace_of(error)
      (error.backtrace || []).reject { |line| line.start_with?("#{__FILE__}:") }
    end

    # Whether this is the `exit` of another thread, as of the debugger's when its session is ended: none of our frames is below it.
    def from_elsewhere?(error)
      error.is_a?(SystemExit) && (error.backtrace || []).none? { |line| line.start_with?("#{__FILE__}:") }
    end
  end

  # The line that stands for a task in the file of the dead tasks: the newest of its id that can be read.
  class DeadTask
    attr_reader :record

    def self.find(path, id, checksum)
      require "zlib"
      raise NotRun.new("changed", "It is no longer among the dead tasks: #{path} is gone.") unless File.file?(path)

      prefix = "dead_task:#{id}:".b
      unreadable = nil
      current = nil
      File.open(path, "rb") do |file|
        file.each_line do |line|
          next unless line.end_with?("\n") && line.byteslice(8, prefix.bytesize + 1) == ":".b + prefix

          payload = line.byteslice(9..-2)
          next unless line.byteslice(0, 8) == format("%08x", Zlib.crc32(payload))

          begin
            current = new(line.byteslice(0, 8), payload.byteslice(prefix.bytesize..))
          rescue StandardError => e
            unreadable = e
          end
        end
      end
      raise NotRun.new("changed", "It is no longer among the dead tasks.") if current.nil? && unreadable.nil?
      raise unreadable_record(unreadable) if current.nil?
      raise NotRun.new("changed", "Another death of this task stands there now.") if current.checksum != checksum

      current
    end

    def self.unreadable_record(error)
      NotRun.new("unreadable", "Its record cannot be read: #{error.message} (#{error.class})")
    end

    attr_reader :checksum

    def initialize(checksum, dumped)
      @checksum = checksum
      @record = Marshal.load(dumped.force_encoding(Encoding::US_ASCII).undump)
      raise TypeError, "it is no Hash" unless @record.is_a?(Hash)
    end

    # `[task class, arguments, keyword arguments, attempts, log tags, log context, user context]`, as far as they were written,
    # and without attempts: as a retry would begin.
    def context
      context = Marshal.load(record[:context])
      raise TypeError, "its context is no Array" unless context.is_a?(Array)

      context[3] = nil if context.length > 3
      context
    rescue StandardError, ScriptError => e
      # A class that is gone, for example, or one that is no longer what it was.
      raise NotRun.new("unreadable", "Its arguments cannot be loaded: #{e.message} (#{e.class})")
    end
  end

  # Boots the application as the framework's own console does.
  class Application
    attr_reader :root

    def initialize(root)
      @root = root
    end

    def boot
      Dir.chdir(root)
      environment = ENV["RAGE_ENV"] || ENV["RAILS_ENV"] || "development"
      ENV["RAGE_ENV"] = ENV["RAILS_ENV"] = environment
      file = File.join(root, "config", "application.rb")
      raise NotRun.new("boot", "There is no config/application.rb in #{root}.") unless File.file?(file)

      require file
      require File.join(root, "config", "environment.rb") if rails?
      # This loads the framework's background tasks, too.
      unless defined?(::Rage::Deferred::Task)
        raise NotRun.new("boot", "config/application.rb was loaded, but it does not load Rage::Deferred.")
      end
      environment
    end

    private

    def rails?
      configuration = ::Rage.config
      configuration.respond_to?(:internal) && configuration.internal.rails_mode
    end
  end

  # Fibers of the framework wait for the event loop of its server, which does not run here: each runs to its end at once instead.
  module FibersInTurn
    def schedule(&block)
      fiber = Fiber.new(blocking: true) do
        fiber_outcomes[Fiber.current] = [block.call, nil]
      rescue Exception => e
        fiber_outcomes[Fiber.current] = [nil, e]
      end
      fiber.resume
      fiber
    end

    def await(fibers)
      outcomes = Array(fibers).map { |fiber| fiber_outcomes[fiber] }
      raised = outcomes.filter_map { |outcome| outcome&.last }.first
      raise raised if raised

      outcomes.map { |outcome| outcome&.first }
    end

    def pause; end

    private

    def fiber_outcomes
      @dead_tasks_fiber_outcomes ||= {}.compare_by_identity
    end
  end

  # Performs a task as a worker does, with its middleware, log tags and log context.
  class Performance
    def initialize(context)
      @context = context
      @task_class = context[0]
      unless @task_class.is_a?(Class) && @task_class.method_defined?(:__perform)
        raise NotRun.new("unreadable", "#{Text.plain(@task_class.inspect)} is no task: it does not include Rage::Deferred::Task.")
      end
    end

    # Never the values: they are personal data.
    def description
      positional = Array(@context[1]).length
      keywords = @context[2].is_a?(Hash) ? @context[2].length : 0
      "#{@task_class.name} with #{positional} positional and #{keywords} keyword argument#{"s" unless keywords == 1} (not shown)"
    end

    # Returns `[succeeded, exception or nil]`.
    def run
      Fiber.singleton_class.prepend(FibersInTurn) if Fiber.respond_to?(:await)
      task = @task_class.new
      raised = remember_exceptions_of(task)
      result = task.__perform(@context)
      return [true, nil] if result == true

      # Newer releases return what was raised, older ones only `false`.
      [false, result.is_a?(Exception) ? result : raised.last]
    rescue Exception => e
      [false, e]
    end

    private

    def remember_exceptions_of(task)
      raised = []
      @task_class.prepend(Module.new do
        define_method(:perform) do |*arguments, **keywords, &block|
          super(*arguments, **keywords, &block)
        rescue Exception => e
          raised << e if equal?(task)
          raise
        end
      end)
      raised
    end
  end

  # One run, from the request in its directory to the outcome there.
  class Run
    def initialize(root, directory)
      @application = Application.new(root)
      @directory = directory
      @outcome = Outcome.new(directory)
    end

    # Returns the exit status.
    def call
      # Held for as long as this process lives, however it ends.
      @lock = File.open(File.join(@directory, "process.lock"), File::RDWR | File::CREAT, 0o600)
      return refuse("It is being run already.") unless locked?
      return refuse("It has been run already.") if File.exist?(File.join(@directory, "outcome.json"))

      say "Booting the application in #{Text.printed(@application.root)} …"
      boot ? perform : 2
    rescue NotRun => e
      not_run(e.kind, e)
    rescue Errno::ENOENT => e
      raise unless @lock.nil?

      refuse("The window that asked for it has given it up (#{e.message}).")
    end

    private

    # A window that looks whether this process lives has the lock for a moment.
    def locked?
      20.times do
        return true if @lock.flock(File::LOCK_EX | File::LOCK_NB)

        sleep 0.05
      end
      false
    end

    # Whether it was booted. An application that ends itself while it is booted (`abort`) is not.
    def boot
      started = now
      environment = @application.boot
      say "Booted (#{environment}) in #{since(started)}."
      true
    rescue NotRun
      raise
    rescue Exception => e
      # Bundler, for one, ends the process over what it could not find.
      error = e.is_a?(SystemExit) && e.cause ? e.cause : e
      say_failure("The application could not be booted", error)
      @outcome.not_run("boot", error)
      false
    end

    def perform
      require "json"
      request = JSON.parse(File.read(File.join(@directory, "run.json"), encoding: "UTF-8"))
      @data_file = request.fetch("dataFile")
      task = DeadTask.find(@data_file, [request.fetch("idHex")].pack("H*"), request.fetch("checksum"))
      performance = Performance.new(task.context)
      @outcome.started
      say "Running #{Text.printed(performance.description)} …"
      started = now
      succeeded, error = performance.run
      keep_what_was_enqueued
      return interrupted(started) if !succeeded && Text.from_elsewhere?(error)

      succeeded ? @outcome.succeeded : @outcome.failed(error)
      if succeeded
        say "Succeeded in #{since(started)}.", color: 32
      elsif error.nil?
        say "Failed after #{since(started)}. What was raised is in the application's log.", color: 31
      else
        say_failure("Failed after #{since(started)}", error)
      end
      succeeded ? 0 : 1
    end

    # No failure of the task's: how far it came is not known, as when the process is killed.
    def interrupted(started)
      say "Ended from outside after #{since(started)}.", color: 31
      1
    end

    # Tasks that the task itself has enqueued wait in a log of the framework's, which it writes through a buffer.
    def keep_what_was_enqueued
      storage = File.dirname(File.realpath(@data_file))
      ObjectSpace.each_object(File) do |file|
        next if file.closed? || !file.path || File.dirname(File.realpath(file.path)) != storage

        file.flush
        file.fsync
      rescue IOError, SystemCallError
        # One that is only read, or that is gone.
        next
      end
    rescue SystemCallError => e
      say "What it enqueued may not be on the disk yet: #{e.message}"
    end

    def not_run(kind, error)
      say "Not run: #{Text.printed(error.message)}", color: 31
      @outcome.not_run(kind, error)
      2
    end

    # Leaves the other run's outcome alone.
    def refuse(reason)
      say "Not run: #{reason}", color: 31
      2
    end

    def say(text, color: nil)
      $stdout.puts(color && $stdout.tty? ? "\e[#{color}m#{text}\e[0m" : text)
      $stdout.flush
    end

    def say_failure(what, error)
      say "#{what}: #{Text.printed("#{error.class}: #{error.message}")}", color: 31
      Text.backtrace_of(error).each { |line| say "    #{Text.printed(line)}" }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def since(started)
      seconds = now - started
      seconds < 10 ? format("%.2f s", seconds) : format("%.0f s", seconds)
    end
  end
end

if RUBY_VERSION < "3"
  warn "Ruby 3.0 or newer is needed to run a dead task; this is Ruby #{RUBY_VERSION}."
  exit 2
end
# Taken away, so that nothing that the application starts takes itself for such a run.
application, run = %w[DEAD_TASKS_APPLICATION DEAD_TASKS_RUN].map { |name| ENV.delete(name) }
if application.nil? || run.nil?
  warn "This is started by Dead Tasks for Rage: see its documentation for Run Now."
  exit 2
end
exit DeadTasks::Run.new(application, run).call
