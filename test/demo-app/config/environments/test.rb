Rage.configure do
  config.server.workers_count = 1

  config.logger = nil

  # Tests must not leave tasks behind.
  config.deferred.backend = nil
end
