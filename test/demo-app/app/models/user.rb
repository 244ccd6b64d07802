class User
  attr_reader :id, :email, :first_name

  @records = {}

  class << self
    def create(email:, first_name: nil)
      user = new(@records.size + 1, email, first_name)
      @records[email] = user
    end

    # Bug: case matters here, though it does not to people who sign up.
    def find_by(email:)
      @records[email]
    end
  end

  def initialize(id, email, first_name)
    @id = id
    @email = email
    @first_name = first_name
  end
end
