class NotifySlack
  include Rage::Deferred::Task

  def perform(channel, message, mentions: [])
    client = SlackClient.new(ENV.fetch("SLACK_TOKEN"))
    client.post(channel, text: text(message, mentions))
  end

  private

  def text(message, mentions)
    # Bug: some callers pass a Hash with String keys.
    body = message.fetch(:text)
    return body if mentions.empty?

    "#{mentions.map { |name| "<@#{name}>" }.join(" ")} #{body}"
  end
end
