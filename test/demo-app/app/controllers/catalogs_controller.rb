class CatalogsController < ApplicationController
  def import
    ImportCatalog.enqueue(params[:source], params[:publisher], since: Time.now - 86_400)

    head :accepted
  end
end
