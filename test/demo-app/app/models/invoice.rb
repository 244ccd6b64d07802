class Invoice
  attr_reader :id, :customer, :lines
  attr_accessor :reference, :due_on

  class NotFound < StandardError; end

  @records = {}

  class << self
    def create(customer:, lines:)
      invoice = new(@records.size + 1, customer, lines)
      @records[invoice.id] = invoice
    end

    def find(id)
      @records.fetch(id.to_i) { raise NotFound, "no invoice #{id}" }
    end
  end

  def initialize(id, customer, lines)
    @id = id
    @customer = customer
    @lines = lines
    @reference = "INV-#{id}".freeze
  end

  def total
    cents = lines.sum { |line| line[:price].cents * line[:quantity] }
    Money.new(cents, lines.first[:price].currency)
  end

  def stamp(suffix)
    # Bug: the reference is frozen as soon as it is made.
    reference << "-" << suffix
  end

  # Bug: an invoice that is paid at once has no due date.
  def days_left
    (due_on - Date.today).to_i
  end
end
