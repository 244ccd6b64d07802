require "csv"

class ImportCatalog
  include Rage::Deferred::Task

  max_retries 2

  def perform(source, publisher, since: nil, columns: {})
    parser = CatalogParser.new(source, columns: columns)

    parser.each do |row|
      next if since && row[:updated_at] < since

      Product.upsert(
        isbn: row.fetch(:isbn),
        price: price(row),
        # Bug: publishers write dates in their own way.
        published_on: Date.strptime(row[:published_on], "%Y-%m-%d"),
        publisher: publisher
      )
    end
  end

  private

  # Bug: "12,50" is no number.
  def price(row)
    BigDecimal(row[:price])
  end
end
