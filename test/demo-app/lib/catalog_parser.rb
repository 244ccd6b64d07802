require "csv"

# Reads a publisher's catalogue. The first row names the columns.
class CatalogParser
  include Enumerable

  class BadRow < StandardError; end

  def initialize(source, columns: {})
    @source = source
    @columns = columns
  end

  def each
    CSV.foreach(@source, headers: true).with_index(2) do |row, line|
      problems = check(row)
      raise BadRow, "#{@source}, line #{line}:\n#{problems.join("\n")}" if problems.any?

      yield rename(row.to_h)
    end
  end

  private

  def rename(row)
    row.to_h { |name, value| [@columns.fetch(name, name).strip.downcase.to_sym, value] }
  end

  def check(row)
    row.filter_map { |name, value| "  #{name} is empty" if value.to_s.strip.empty? }
  end
end
