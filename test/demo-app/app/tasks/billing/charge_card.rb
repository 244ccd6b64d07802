module Billing
  class ChargeCard
    include Rage::Deferred::Task

    max_retries 4

    class AmountMismatch < StandardError; end

    # Bug: `currency:` became required while tasks without it were still waiting.
    def perform(amount, token:, currency:, invoice_id: nil, idempotency_key: nil)
      gateway = PaymentGateway.new(currency: currency)
      charge = gateway.charge(cents(amount), token: token, key: idempotency_key)

      verify(charge, amount)
      Invoice.find(invoice_id).stamp(charge.id) if invoice_id
    end

    private

    # Bug: 19.99 * 100 is 1998.9999999999998.
    def cents(amount)
      amount.respond_to?(:cents) ? amount.cents : (amount * 100).to_i
    end

    def verify(charge, amount)
      return if charge.amount == amount

      raise AmountMismatch, "charged #{charge.amount} instead of #{amount}"
    end
  end
end
