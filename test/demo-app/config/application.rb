require "bundler/setup"
require "rage"
Bundler.require(*Rage.groups)

require "rage/all"
require "bigdecimal"
require "date"
require "json"

$LOAD_PATH.unshift(Rage.root.join("lib").to_s)

Rage.configure do
  # Background tasks survive a restart; those that fail for good end up here as dead tasks.
  config.deferred.backend = :disk, { path: Rage.root.join("storage") }
end

require "rage/setup"
