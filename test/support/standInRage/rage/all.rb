require "rage"

class Fiber
  # The framework's own waits for the event loop, which only its server runs.
  def self.await(_fibers) = raise("the event loop is not running")
end
