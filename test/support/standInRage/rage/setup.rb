require "rage/all"

load Rage.root.join("config", "environments", "#{Rage.env}.rb") if Rage.root.join("config", "environments", "#{Rage.env}.rb").exist?
Rage.root.glob("config/initializers/**/*.rb").sort.each { |file| load file.to_s }

# Each directory in app/ is a root of constants, as with the framework's loader.
Rage.root.glob("app/*/").each do |root|
  names = ->(path) { path.basename(".rb").to_s.split("_").map(&:capitalize).join }
  root.glob("*.rb").each { |file| Object.autoload(names.(file), file.to_s) }
  root.glob("*/").each do |directory|
    space = Object.const_set(names.(directory), Module.new)
    directory.glob("*.rb").each { |file| space.autoload(names.(file), file.to_s) }
  end
end
