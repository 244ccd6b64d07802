require "net/http"

# The accounting service.
class InvoiceGateway
  class Unavailable < StandardError; end
  class Rejected < StandardError; end

  URL = URI("https://accounting.example.com/v2/invoices")

  def self.open
    Net::HTTP.start(URL.host, URL.port, use_ssl: true, open_timeout: 5) do |connection|
      yield new(connection)
    end
  end

  attr_reader :receipt

  def initialize(connection)
    @connection = connection
  end

  def push(lines)
    response = @connection.post(URL.path, JSON.generate(lines))
    check(response)
    @receipt = JSON.parse(response.body).fetch("receipt")
  end

  private

  def check(response)
    case response.code.to_i
    when 200..299 then nil
    when 400..499 then raise Rejected, "accounting said #{response.code}\n#{response.body}"
    else raise Unavailable, "accounting said #{response.code}"
    end
  end
end
