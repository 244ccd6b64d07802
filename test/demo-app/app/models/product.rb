class Product
  @records = {}

  class Conflict < StandardError; end

  class << self
    def upsert(isbn:, **attributes)
      existing = @records[isbn]
      if existing && existing[:publisher] != attributes[:publisher]
        raise Conflict, "#{isbn} belongs to #{existing[:publisher]}"
      end

      @records[isbn] = attributes
    end
  end
end
