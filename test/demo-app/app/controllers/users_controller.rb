class UsersController < ApplicationController
  def create
    user = User.create(email: params[:email], first_name: params[:first_name])
    SendWelcomeEmail.enqueue(user.email, locale: params.fetch(:locale, :en))
    NotifySlack.enqueue("#signups", { text: "#{user.email} signed up" })

    render json: { id: user.id }, status: :created
  end

  def avatar
    upload = params[:avatar]
    ResizeImage.enqueue(upload.path, width: 256, height: 256)

    head :accepted
  end
end
