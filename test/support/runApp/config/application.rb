require "bundler/setup"
require "rage"
Bundler.require(*Rage.groups)
require "rage/all"

# Puts the tenant of the user context where the task finds it.
class TenantMiddleware
  def call(context:, **)
    Thread.current[:tenant] = context[:tenant]
    raise "no such tenant" if context[:tenant] == "nobody"

    yield
  end
end

Rage.configure do
  config.deferred.backend = :disk, { path: Rage.root.join("storage") }
  config.deferred.perform_middleware.use TenantMiddleware
  config.logger = Rage::Logger.new($stdout)
end

require "rage/setup"
