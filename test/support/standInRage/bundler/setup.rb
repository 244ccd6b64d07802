# Beside the stand-in for the framework one for Bundler, which would ask for the gem.
module Bundler
  def self.require(*) = nil
end
