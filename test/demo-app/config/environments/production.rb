Rage.configure do
  config.server.workers_count = ENV.fetch("WEB_CONCURRENCY", 2).to_i
  config.server.port = 3000

  config.logger = Rage::Logger.new(STDOUT)
  config.log_level = Logger::INFO
  config.log_formatter = Rage::JSONFormatter.new
end
