module Rage::Deferred
  class Queue
    # As the framework's, which writes through a buffer and syncs on a timer.
    def enqueue(context)
      @log ||= File.open(Rage.root.join("storage", "deferred-0-20260101-#{Process.pid}-stand-in"), "a+b")
      @log.write("#{Marshal.dump(context).dump}\n")
    end
  end

  class << self
    def __queue = (@__queue ||= Queue.new)

    # Middleware of perform came with 1.20.
    def with_perform_middleware(context, task, &perform)
      all = Rage::RELEASE >= Gem::Version.new("1.20") ? Rage.config.deferred.perform_middleware.objects : []
      all.reverse.inject(perform) do |inner, (middleware, arguments, block)|
        -> { middleware.new(*arguments, &block).call(task: task, context: context[6] ||= {}, &inner) }
      end.call
    end
  end

  module Task
    def self.included(task_class)
      task_class.extend(ClassMethods)
    end

    module ClassMethods
      def max_retries(_count) = nil

      def enqueue(*args, **kwargs)
        Rage::Deferred.__queue.enqueue([self, args.empty? ? nil : args, kwargs.empty? ? nil : kwargs, nil, nil, nil, nil])
      end
    end

    def perform; end

    def __perform(context)
      Thread.current[:stand_in_tags] = Array(context[4])
      Thread.current[:stand_in_context] = context[5] || {}
      attempt = { task: self.class.name, **(context[3] ? { attempt: context[3] + 1 } : {}) }
      Rage::Deferred.with_perform_middleware(context, self) do
        Rage.logger.with_context(attempt) { perform(*context[1], **(context[2] || {})) }
      end
      true
    rescue Exception => e
      Rage.logger.with_context(attempt) { Rage.logger.error("Deferred task failed with exception: #{e.class} (#{e.message})") }
      # Up to 1.22 the queue was only told that it failed.
      Rage::RELEASE >= Gem::Version.new("1.23") ? e : false
    end
  end
end
