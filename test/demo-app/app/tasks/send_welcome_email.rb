class SendWelcomeEmail
  include Rage::Deferred::Task

  SUBJECTS = {
    en: "Welcome to the bookshop",
    de: "Willkommen im Buchladen",
    fr: "Bienvenue à la librairie"
  }.freeze

  def perform(email, locale: :en)
    user = User.find_by(email: email)

    Mailer.deliver(
      to: email,
      subject: subject(locale),
      body: body(user)
    )
  end

  private

  # Bug: the signup form sends the locale as a String, and there are languages that we do not speak.
  def subject(locale)
    SUBJECTS.fetch(locale)
  end

  # Bug: nobody found means nil here.
  def body(user)
    "Dear #{user.first_name.capitalize},\n\nyour first book is on us."
  end
end
