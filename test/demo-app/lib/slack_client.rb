require "net/http"

# Posts messages. Slack answers 200 with an error in the body.
class SlackClient
  URL = URI("https://slack.example.com/api/chat.postMessage")

  def initialize(token)
    @token = token
  end

  def post(channel, text:)
    payload = JSON.generate(channel: channel, text: text)
    response = Net::HTTP.post(URL, payload, "Authorization" => "Bearer #{@token}")
    reply = JSON.parse(response.body)

    # Bug: a class made on the spot has no name to rescue, group or search by.
    raise Class.new(StandardError), "slack said #{reply["error"]}" unless reply["ok"]
  end
end
