require "net/smtp"

# Sends mail, one connection for each message.
module Mailer
  HOST = "smtp.example.com"

  class Undeliverable < StandardError; end

  def self.deliver(to:, subject:, body:)
    raise Undeliverable, "no address in #{to.inspect}" unless to.include?("@")

    Net::SMTP.start(HOST, 587) do |smtp|
      smtp.send_message(message(to, subject, body), "shop@example.com", to)
    end
  end

  def self.message(to, subject, body)
    ["To: #{to}", "Subject: #{subject}", "", body].join("\r\n")
  end
end
