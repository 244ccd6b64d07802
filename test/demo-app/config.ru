require_relative "config/application"

run Rage.application
