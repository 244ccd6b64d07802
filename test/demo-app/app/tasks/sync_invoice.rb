class SyncInvoice
  include Rage::Deferred::Task

  max_retries 5

  # The gateway tells us when there is no point in trying again.
  def self.retry_interval(exception, attempt:)
    return false if exception.is_a?(InvoiceGateway::Rejected)

    super
  end

  def perform(invoice_id, force: false)
    invoice = Invoice.find(invoice_id)
    return if !force && invoice.days_left.negative?

    InvoiceGateway.open do |gateway|
      invoice.lines.each { |line| gateway.push(flatten(line)) }
      invoice.stamp(gateway.receipt)
    end
  end

  private

  # Bug: a bundle that contains itself never ends.
  def flatten(line)
    line.fetch(:bundle, []).flat_map { |inner| flatten(inner) } + [line]
  end
end
