require "net/http"

# The card processor.
class PaymentGateway
  Charge = Struct.new(:id, :amount)

  class CardDeclined < StandardError; end
  class Timeout < StandardError; end

  URL = URI("https://payments.example.com/charges")

  def initialize(currency:)
    @currency = currency.to_s.upcase
  end

  def charge(cents, token:, key: nil)
    response = Net::HTTP.post(URL, JSON.generate(amount: cents, currency: @currency, source: token, key: key))
    body = JSON.parse(response.body)
    raise CardDeclined, body.fetch("decline_message") if response.code == "402"

    Charge.new(body.fetch("id"), body.fetch("amount"))
  rescue Net::ReadTimeout => e
    raise Timeout, "no answer from #{URL.host}: #{e.message}"
  end
end
