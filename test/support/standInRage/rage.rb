# A small stand-in for the framework `rage-rb`, with what an application's configuration, its tasks and the script that runs
# a dead task use of it, in the shape of releases 1.17 to 1.27. STAND_IN_RAGE chooses the release.
require "pathname"
require "logger"

module Rage
  RELEASE = Gem::Version.new(ENV.fetch("STAND_IN_RAGE", "1.27"))

  class Logger
    attr_reader :lines

    def initialize(io)
      @io = io
    end

    def with_context(context)
      before = Thread.current[:stand_in_context] || {}
      Thread.current[:stand_in_context] = before.merge(context)
      yield
    ensure
      Thread.current[:stand_in_context] = before
    end

    def tagged(*tags)
      before = Thread.current[:stand_in_tags] || []
      Thread.current[:stand_in_tags] = before + tags
      yield
    ensure
      Thread.current[:stand_in_tags] = before
    end

    %i[debug info warn error].each do |level|
      define_method(level) do |text|
        @io&.puts "#{Array(Thread.current[:stand_in_tags]).map { |tag| "[#{tag}]" }.join} #{level}: #{text.lines.first.chomp} " \
                  "#{Thread.current[:stand_in_context] || {}}"
      end
    end
  end

  class Middleware
    attr_reader :objects

    def initialize
      @objects = []
    end

    def use(middleware, *arguments, &block)
      @objects << [middleware, arguments, block]
    end
  end

  Deferral = Struct.new(:backend, :perform_middleware)
  Internal = Struct.new(:rails_mode)
  Server = Struct.new(:workers_count, :port)

  class Configuration
    attr_accessor :logger
    attr_reader :deferred, :internal, :server, :middleware

    def initialize
      @deferred = Deferral.new([:disk, {}], Middleware.new)
      @internal = Internal.new(false)
      @server = Server.new
      @middleware = Middleware.new
      @logger = Rage::Logger.new(nil)
    end

    def config = self
  end

  Reloader = Class.new

  class << self
    def config = (@config ||= Configuration.new)
    def configure(&block) = config.instance_eval(&block)
    def root = (@root ||= Pathname.new(".").expand_path)
    def env = ENV["RAGE_ENV"] || ENV["RAILS_ENV"] || "development"
    def groups = [:default, env.to_sym]
    def logger = config.logger
  end

  autoload :Deferred, "rage/deferred"
end
